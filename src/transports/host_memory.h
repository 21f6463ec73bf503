#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transports/flag_wait.h"
#include "transports/left_channels.h"
#include "transports/registered_memory.h"
#include "transports/transport.h"

namespace fanin {

inline constexpr int kHostFlagCount = 64;
inline constexpr int kMaxHostRanks = 1024;
inline constexpr std::size_t kDefaultWindowBytes = std::size_t{4} << 20;

/// One rank's row of flags on one channel. Everybody may write: a rank its flags, and the others
/// that they sleep on one.
struct RankFlags {
  alignas(128) std::atomic<std::uint32_t> left{0};  // the rank has gone, by its own will
  std::atomic<std::uint32_t> waits_for{0};          // see WaitsFor
  std::array<Flag, kHostFlagCount> flags;
};

/// What all ranks of a group share, on a channel: that of their first. Others may use the channel
/// without any of them. The low bits name a process: who ended the epoch before, and
/// who decides.
struct alignas(128) ChannelControl {
  static constexpr int kRankBits = 16;
  std::atomic<std::uint64_t> epoch_and_ender{0};
  std::atomic<std::uint64_t> generation_and_decider{0};
};

/// A rank's process, and why it last ended an epoch: written by itself.
struct alignas(128) ProcessControl {
  std::atomic<std::uint32_t> pid{0};      // 0: it has not come yet
  std::atomic<std::uint64_t> address{0};  // where this is in the process's own memory, or 0
  std::atomic<std::uint64_t> used_channels{0};
  std::atomic<std::uint64_t> last_epoch{0};  // of all groups that it has left
};

/// At the start of shared memory, so that two builds that differ notice.
struct HostHeader {
  static constexpr std::uint64_t kMagic = 0x6e69'6e61'662d'6c61;
  static constexpr std::uint32_t kVersion = 7;

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t size = 0;
  std::uint64_t window_bytes = 0;
  std::atomic<std::uint64_t> core_use{0};  // CoreUse, as the first saw it that asked
};

/// A piece of mapped memory that the ranks of one host share: the header and the controls, then for
/// each rank what only it may write: what it says of its registered memory, and on each channel a
/// note and a window; and what all may write: a shelf on each channel, and its registered memory,
/// which is as large as the memory of the machine. Memory is only used when touched.
class HostMemory {
 public:
  /// Anonymous memory, for threads, without registered memory. Throws Unavailable.
  static HostMemory make_private(int size, std::size_t window_bytes);

  /// Maps a file of at least bytes_for() bytes. Only `rank` gets to write into its own notes and
  /// windows; a stray write into another's ends the process instead of spoiling a sum. Throws
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
  ProcessControl& process(int rank);
  ChannelControl& control(int channel, int first);
  RankFlags& flags(int rank, int channel);
  std::span<std::byte> note(int rank, int channel);
  std::span<std::byte> window(int rank, int channel);
  std::span<std::byte> shelf(int rank, int channel);
  RegisteredMemory& registered() { return *registered_; }
  LeftChannels& left_channels() { return *left_channels_; }

 private:
  HostMemory(std::byte* base, int size, std::size_t window_bytes, std::size_t registered_bytes);
  void map_registered(int fd, int rank);
  std::size_t byte_count() const;
  std::byte* area_of(int rank);

  std::byte* base_;
  int size_;
  std::size_t window_bytes_;
  std::size_t registered_bytes_;
  std::unique_ptr<RegisteredMemory> registered_;
  std::unique_ptr<LeftChannels> left_channels_;
};

}  // namespace fanin
