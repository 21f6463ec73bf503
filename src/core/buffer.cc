#include "fanin/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/require.h"

namespace fanin {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Large buffers start at different offsets from their huge page. Equal ones would share cache sets,
// and a streaming store 1 to 255 bytes ahead of a load, modulo 4096, stalls that load: steps of
// 4096 + 256 avoid both.
constexpr std::size_t kColorCount = 16;
constexpr std::size_t kColorStep = 4096 + 256;

std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

/// Sizes that share a free list: an eighth of a power of two apart, so at most an eighth is wasted.
std::size_t class_of(std::size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  return round_up(bytes, std::max(kAlignment, std::bit_floor(bytes - 1) / 8));
}

/// A piece of memory from the system.
struct Block {
  std::byte* data;
  std::byte* mapping;  // null when it came from aligned_alloc
  std::size_t mapping_size;
};

Block take_from_system(std::size_t size, std::size_t color) {
  if (size < kHugePage) {
    auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
    return {data, nullptr, 0};
  }
  const std::size_t offset = color % kColorCount * kColorStep;
  const std::size_t mapping_size = round_up(size + offset, kHugePage) + kHugePage;
  void* mapping =
      ::mmap(nullptr, mapping_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return {nullptr, nullptr, 0};
  void* aligned = mapping;
  std::size_t space = mapping_size;
  std::align(kHugePage, size + offset, aligned, space);
  ::madvise(aligned, mapping_size - kHugePage, MADV_HUGEPAGE);  // a wish: refusal only costs time
  return {static_cast<std::byte*>(aligned) + offset, static_cast<std::byte*>(mapping),
          mapping_size};
}

void give_to_system(const Block& block) {
  if (block.mapping != nullptr)
    ::munmap(block.mapping, block.mapping_size);
  else
    std::free(block.data);
}

}  // namespace

class BufferPool::State {
 public:
  explicit State(std::size_t cache_limit_bytes) : cache_limit_bytes_(cache_limit_bytes) {}
  ~State() { give_cache_to_system(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Block take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > kMostBytes) throw_no_memory(bytes);
    const std::size_t size = class_of(bytes);
    Block block{};
    if (auto found = free_.find(size); found != free_.end() && !found->second.empty()) {
      block = found->second.back();
      found->second.pop_back();
      stats_.cached_bytes -= size;
    } else {
      const auto color = static_cast<std::size_t>(stats_.allocation_count);
      block = take_from_system(size, color);
      if (block.data == nullptr) {  // what is kept for later may be what is missing now
        give_cache_to_system();
        block = take_from_system(size, color);
      }
      if (block.data == nullptr) throw_no_memory(bytes);
      ++stats_.allocation_count;
    }
    stats_.now_bytes += bytes;
    stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.now_bytes);
    return block;
  }

  void give_back(const Block& block, std::size_t bytes) noexcept {
    if (!keep(block, bytes)) give_to_system(block);  // without the lock: unmapping takes its time
  }

  MemoryStats stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    stats_.peak_bytes = stats_.now_bytes;
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    give_cache_to_system();
  }

  /// The pool is gone: from now on what comes back goes to the system.
  void close() {
    const std::lock_guard lock(mutex_);
    cache_limit_bytes_ = 0;
    give_cache_to_system();
  }

 private:
  // Beyond this, sizes that are rounded up would not fit a size_t.
  static constexpr std::size_t kMostBytes = std::numeric_limits<std::size_t>::max() / 4;

  [[noreturn]] void throw_no_memory(std::size_t bytes) const {
    throw Unavailable(
        fmt::format("no memory for a buffer of {} bytes ({} bytes are in use by this pool)", bytes,
                    stats_.now_bytes));
  }

  void give_cache_to_system() {
    for (auto& [size, blocks] : free_) {
      for (const Block& block : blocks) give_to_system(block);
      blocks.clear();
    }
    stats_.cached_bytes = 0;
  }

  bool keep(const Block& block, std::size_t bytes) noexcept {
    const std::size_t size = class_of(bytes);
    const std::lock_guard lock(mutex_);
    stats_.now_bytes -= bytes;
    if (size > cache_limit_bytes_ || stats_.cached_bytes > cache_limit_bytes_ - size) return false;
    try {
      free_[size].push_back(block);
    } catch (const std::bad_alloc&) {  // no room to remember it
      return false;
    }
    stats_.cached_bytes += size;
    return true;
  }

  std::size_t cache_limit_bytes_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<Block>> free_;
  MemoryStats stats_;
};

BufferPool::BufferPool(std::size_t cache_limit_bytes)
    : state_(std::make_shared<State>(cache_limit_bytes)) {}

BufferPool::~BufferPool() { state_->close(); }

Buffer BufferPool::allocate(std::size_t bytes) {
  const Block block = state_->take(bytes);
  auto give_back = [state = state_, block, bytes](std::byte*) { state->give_back(block, bytes); };
  return Buffer(std::shared_ptr<std::byte>(block.data, std::move(give_back)), bytes);
}

MemoryStats BufferPool::stats() const { return state_->stats(); }

void BufferPool::reset_peak() { state_->reset_peak(); }

void BufferPool::trim() { state_->trim(); }

}  // namespace fanin
