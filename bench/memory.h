#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace bench {

/// Mapped and touched memory in huge pages if there are any. It begins `offset` bytes after a 2 MiB
/// border: buffers that all begin on one collide in the cache.
class Mapping {
 public:
  Mapping(std::size_t bytes, std::size_t offset) : size_(bytes + offset + 2 * kHuge) {
    void* const at =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(at);
    const auto past_border = reinterpret_cast<std::uintptr_t>(base_) % kHuge;
    data_ = base_ + (kHuge - past_border) + offset;
    ::madvise(base_, size_, MADV_HUGEPAGE);
  }
  ~Mapping() { ::munmap(base_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const { return data_; }

 private:
  static constexpr std::size_t kHuge = std::size_t{2} << 20;
  std::size_t size_;
  std::byte* base_;
  std::byte* data_;
};

}  // namespace bench
