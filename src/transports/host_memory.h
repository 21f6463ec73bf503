#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/flag_wait.h"

namespace fanin {

inline constexpr int kHostFlagCount = 64;
inline constexpr int kMaxHostRanks = 1024;
inline constexpr std::size_t kDefaultWindowBytes = std::size_t{4} << 20;

/// What everybody may write: a rank its flags, and the others that they sleep on one.
struct RankControl {
  alignas(128) std::atomic<std::uint32_t> left{0};  // the rank has gone, by its own will
  std::atomic<std::uint32_t> pid{0};                // 0: it has not come yet
  std::array<Flag, kHostFlagCount> flags;
};

/// At the start of shared memory, so that two builds that differ notice.
struct HostHeader {
  static constexpr std::uint64_t kMagic = 0x6e69'6e61'662d'6c61;
  static constexpr std::uint32_t kVersion = 1;

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t size = 0;
  std::uint64_t window_bytes = 0;
};

/// A piece of mapped memory that the ranks of one host share: the header, the controls of all
/// ranks, then for each rank a page with its call line, and its window. Memory is only used when
/// touched.
class HostMemory {
 public:
  /// Anonymous memory, for threads. Throws Unavailable.
  static HostMemory make_private(int size, std::size_t window_bytes);

  /// Maps a file of at least bytes_for() bytes. Only `rank` gets to write into its call line and
  /// window; a stray write into another's ends the process instead of spoiling a sum. Throws
  /// Unavailable.
  static HostMemory map_file(int fd, int rank, int size, std::size_t window_bytes);

  static std::size_t bytes_for(int size, std::size_t window_bytes);

  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory();

  /// Writes header and controls. Once, by whoever made the memory, before others see it.
  void construct();

  int size() const { return size_; }
  HostHeader& header();
  RankControl& control(int rank);
  std::span<std::byte> call_line(int rank);
  std::span<std::byte> window(int rank);

 private:
  HostMemory(std::byte* base, int size, std::size_t window_bytes);
  std::byte* area_of(int rank);

  std::byte* base_;
  int size_;
  std::size_t window_bytes_;
};

}  // namespace fanin
