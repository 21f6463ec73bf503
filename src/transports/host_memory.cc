#include "transports/host_memory.h"

#include <sys/mman.h>

#include <new>
#include <utility>

#include "core/require.h"
#include "core/system_error.h"
#include "transports/transport.h"

namespace fanin {
namespace {

// Parts of different rights lie in different pages, whatever the size of a page is here.
constexpr std::size_t kPageBytes = 65536;

constexpr std::size_t round_up(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

std::size_t control_bytes(int size) {
  return round_up(kPageBytes + static_cast<std::size_t>(size) * sizeof(RankControl));
}

std::size_t area_bytes(std::size_t window_bytes) { return kPageBytes + round_up(window_bytes); }

std::byte* map(int fd, int flags, int protection, std::size_t bytes) {
  void* base = ::mmap(nullptr, bytes, protection, flags, fd, 0);
  if (base == MAP_FAILED) throw_errno("mapping {} bytes for a group of ranks failed", bytes);
  return static_cast<std::byte*>(base);
}

void allow_writing(std::byte* begin, std::size_t bytes) {
  if (::mprotect(begin, bytes, PROT_READ | PROT_WRITE) != 0)
    throw_errno("making {} bytes of shared memory writable failed", bytes);
}

}  // namespace

std::size_t HostMemory::bytes_for(int size, std::size_t window_bytes) {
  require(size >= 1 && size <= kMaxHostRanks, ErrorKind::kBadOption,
          "a group on one host has 1 to {} ranks, got {}", kMaxHostRanks, size);
  constexpr std::size_t kMostBytes = std::size_t{1} << 40;
  require(window_bytes <= kMostBytes, ErrorKind::kBadOption,
          "a window has at most {} bytes, got {}", kMostBytes, window_bytes);
  return control_bytes(size) + static_cast<std::size_t>(size) * area_bytes(window_bytes);
}

HostMemory HostMemory::make_private(int size, std::size_t window_bytes) {
  std::byte* base = map(-1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, PROT_READ | PROT_WRITE,
                        bytes_for(size, window_bytes));
  return {base, size, window_bytes};
}

HostMemory HostMemory::map_file(int fd, int rank, int size, std::size_t window_bytes) {
  HostMemory memory(map(fd, MAP_SHARED, PROT_READ, bytes_for(size, window_bytes)), size,
                    window_bytes);
  allow_writing(memory.base_, control_bytes(size));
  allow_writing(memory.area_of(rank), area_bytes(window_bytes));
  return memory;
}

HostMemory::HostMemory(std::byte* base, int size, std::size_t window_bytes)
    : base_(base), size_(size), window_bytes_(window_bytes) {}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(other.size_),
      window_bytes_(other.window_bytes_) {}

HostMemory::~HostMemory() {
  if (base_ != nullptr) ::munmap(base_, bytes_for(size_, window_bytes_));
}

void HostMemory::construct() {
  auto* header = new (base_) HostHeader;
  header->size = static_cast<std::uint32_t>(size_);
  header->window_bytes = window_bytes_;
  for (int rank = 0; rank < size_; ++rank) new (&control(rank)) RankControl;
}

HostHeader& HostMemory::header() { return *std::launder(reinterpret_cast<HostHeader*>(base_)); }

RankControl& HostMemory::control(int rank) {
  return std::launder(reinterpret_cast<RankControl*>(base_ + kPageBytes))[rank];
}

std::byte* HostMemory::area_of(int rank) {
  return base_ + control_bytes(size_) + static_cast<std::size_t>(rank) * area_bytes(window_bytes_);
}

std::span<std::byte> HostMemory::call_line(int rank) {
  return {area_of(rank), Transport::kCallLineBytes};
}

std::span<std::byte> HostMemory::window(int rank) {
  return {area_of(rank) + kPageBytes, window_bytes_};
}

}  // namespace fanin
