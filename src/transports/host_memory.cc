#include "transports/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

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

/// Header and processes, then the controls and the flags of all.
constexpr std::size_t kHeadBytes = round_up(kPageBytes + kMaxHostRanks * sizeof(ProcessControl));

/// Of one of each on each channel, for each rank.
template <class Each>
std::size_t bytes_of_all(int size) {
  return round_up(static_cast<std::size_t>(size) * Transport::kChannelCount * sizeof(Each));
}

std::size_t control_bytes(int size) {
  return kHeadBytes + bytes_of_all<ChannelControl>(size) + bytes_of_all<RankFlags>(size);
}

std::size_t channel_bytes(std::size_t window_bytes) {
  return Transport::kNoteBytes + round_up(window_bytes);
}

/// What only its rank may write.
std::size_t own_bytes(std::size_t window_bytes) {
  return round_up(sizeof(RenewalTable)) + Transport::kChannelCount * channel_bytes(window_bytes);
}

constexpr std::size_t kShelvesBytes = Transport::kChannelCount * Transport::kShelfBytes;
static_assert(kShelvesBytes % kPageBytes == 0);

std::size_t area_bytes(std::size_t window_bytes, std::size_t registered_bytes) {
  return own_bytes(window_bytes) + kShelvesBytes + registered_bytes;
}

// How many times all of a rank's registered memory can be moved: room in the file costs nothing.
constexpr std::size_t kSpareTimes = 15;

std::size_t bytes_of(int size, std::size_t window_bytes, std::size_t registered_bytes) {
  require(size >= 1 && size <= kMaxHostRanks, ErrorKind::kBadOption,
          "a group on one host has 1 to {} ranks, got {}", kMaxHostRanks, size);
  constexpr std::size_t kMostBytes = std::size_t{1} << 36;
  require(window_bytes <= kMostBytes, ErrorKind::kBadOption,
          "a window has at most {} bytes, got {}", kMostBytes, window_bytes);
  return control_bytes(size) +
         static_cast<std::size_t>(size) * area_bytes(window_bytes, registered_bytes);
}

/// What a rank could register at most: all the memory that there is. Addresses are cheap, but not
/// endless: all ranks together get a sixteenth of them. The same for all processes of a host.
std::size_t registered_bytes_for(int size) {
  constexpr std::size_t kMostOfAll = std::size_t{1} << 43;
  const auto pages = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES));
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return round_up(std::min(pages * page_bytes, kMostOfAll / static_cast<std::size_t>(size)));
}

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
  const std::size_t registered_bytes = registered_bytes_for(std::max(size, 1));
  return bytes_of(size, window_bytes, registered_bytes) +
         static_cast<std::size_t>(size) * kSpareTimes * registered_bytes;
}

HostMemory HostMemory::make_private(int size, std::size_t window_bytes) {
  std::byte* base = map(-1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, PROT_READ | PROT_WRITE,
                        bytes_of(size, window_bytes, 0));
  return {base, size, window_bytes, 0};
}

HostMemory HostMemory::map_file(int fd, int rank, int size, std::size_t window_bytes) {
  const std::size_t registered_bytes = registered_bytes_for(std::max(size, 1));
  HostMemory memory(map(fd, MAP_SHARED | MAP_NORESERVE, PROT_READ,
                        bytes_of(size, window_bytes, registered_bytes)),
                    size, window_bytes, registered_bytes);
  // A dump of a process that crashed should not hold the gradients of all.
  ::madvise(memory.base_, memory.byte_count(), MADV_DONTDUMP);
  allow_writing(memory.base_, control_bytes(size));
  allow_writing(memory.area_of(rank), own_bytes(window_bytes));
  memory.map_registered(fd, rank);
  return memory;
}

void HostMemory::map_registered(int fd, int rank) {
  std::vector<RegisteredMemory::Process> processes;
  processes.reserve(static_cast<std::size_t>(size_));
  const std::size_t spare_bytes = kSpareTimes * registered_bytes_;
  for (int each = 0; each < size_; ++each) {
    const std::span open(shelf(each, 0).data(), kShelvesBytes + registered_bytes_);
    allow_writing(open.data(), open.size());
    const std::span view = open.subspan(kShelvesBytes);
    processes.push_back({.view = view,
                         .spare_begin = byte_count() + static_cast<std::size_t>(each) * spare_bytes,
                         .spare_bytes = spare_bytes,
                         .table = std::launder(reinterpret_cast<RenewalTable*>(area_of(each)))});
  }
  registered_ = std::make_unique<RegisteredMemory>(fd, rank, std::move(processes));
}

HostMemory::HostMemory(std::byte* base, int size, std::size_t window_bytes,
                       std::size_t registered_bytes)
    : base_(base),
      size_(size),
      window_bytes_(window_bytes),
      registered_bytes_(registered_bytes),
      registered_(std::make_unique<RegisteredMemory>()),
      left_channels_(std::make_unique<LeftChannels>()) {}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(other.size_),
      window_bytes_(other.window_bytes_),
      registered_bytes_(other.registered_bytes_),
      registered_(std::move(other.registered_)),
      left_channels_(std::move(other.left_channels_)) {}

HostMemory::~HostMemory() {
  if (base_ != nullptr) ::munmap(base_, byte_count());
}

std::size_t HostMemory::byte_count() const {
  return bytes_of(size_, window_bytes_, registered_bytes_);
}

void HostMemory::construct() {
  // Memory that nobody has touched is zero, which is what flags start with: constructing those of
  // all channels would touch megabytes.
  auto* header = new (base_) HostHeader;
  header->size = static_cast<std::uint32_t>(size_);
  header->window_bytes = window_bytes_;
}

HostHeader& HostMemory::header() { return *std::launder(reinterpret_cast<HostHeader*>(base_)); }

ProcessControl& HostMemory::process(int rank) {
  return std::launder(reinterpret_cast<ProcessControl*>(base_ + kPageBytes))[rank];
}

ChannelControl& HostMemory::control(int channel, int first) {
  return std::launder(
      reinterpret_cast<ChannelControl*>(base_ + kHeadBytes))[channel * size_ + first];
}

RankFlags& HostMemory::flags(int rank, int channel) {
  return std::launder(reinterpret_cast<RankFlags*>(
      base_ + kHeadBytes + bytes_of_all<ChannelControl>(size_)))[channel * size_ + rank];
}

std::byte* HostMemory::area_of(int rank) {
  return base_ + control_bytes(size_) +
         static_cast<std::size_t>(rank) * area_bytes(window_bytes_, registered_bytes_);
}

std::span<std::byte> HostMemory::note(int rank, int channel) {
  return {area_of(rank) + round_up(sizeof(RenewalTable)) +
              static_cast<std::size_t>(channel) * channel_bytes(window_bytes_),
          Transport::kNoteBytes};
}

std::span<std::byte> HostMemory::window(int rank, int channel) {
  return {note(rank, channel).data() + Transport::kNoteBytes, window_bytes_};
}

std::span<std::byte> HostMemory::shelf(int rank, int channel) {
  return {area_of(rank) + own_bytes(window_bytes_) +
              static_cast<std::size_t>(channel) * Transport::kShelfBytes,
          Transport::kShelfBytes};
}

}  // namespace fanin
