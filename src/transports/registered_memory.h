#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "core/file_descriptor.h"
#include "transports/transport.h"

namespace fanin {

/// Whole pages of a process's registered memory that lie elsewhere in the file now.
struct Renewal {
  std::uint64_t offset = 0;  // in the registered memory
  std::uint64_t bytes = 0;
  std::uint64_t file_offset = 0;
};

/// All renewals of a process, in their order: written by it alone, read by all.
struct RenewalTable {
  static constexpr std::size_t kMost = 8192;

  std::atomic<std::uint64_t> count{0};
  std::array<Renewal, kMost> renewals{};
};

/// The registered memory of the processes of a host. Ranks write results into that of all others,
/// and one that was stopped may do so long after they gave up: so whoever gives up moves the pages
/// that others may still write, and what comes late ends where nobody looks any more. Threads, who
/// see all memory, wait until nobody writes.
class RegisteredMemory {
 public:
  struct Process {
    std::span<std::byte> view;      // its memory, as this process sees it
    std::uint64_t spare_begin = 0;  // where it may move pages to, in the file
    std::uint64_t spare_bytes = 0;
    RenewalTable* table = nullptr;
  };

  /// For threads: none, since all memory is seen.
  RegisteredMemory() = default;

  /// Keeps a copy of the descriptor. Throws Unavailable.
  RegisteredMemory(int fd, int mine, std::vector<Process> processes);

  bool is_for_threads() const { return processes_.empty(); }
  std::span<std::byte> of(int process) const;

  /// How often this process has moved pages: others must know it to write there.
  std::uint64_t renewal_count() const;

  /// Whether pages can still be moved: if not, nobody may be told to write here.
  bool can_renew() const;

  /// Sees the memory of some processes as it is after so many renewals of each or more, and keeps
  /// it so as long as the access lives. None if a process tells nonsense. More renewals than were
  /// told are of other calls, or this one's epoch is over: the caller looks.
  std::optional<WriteAccess> access(std::span<const int> processes,
                                    std::span<const std::uint64_t> renewal_counts);

  /// Moves pages of this process, with what is in them: addresses stay. Nobody else may use them
  /// meanwhile. Throws Unavailable if there is no memory left.
  void renew(std::span<const std::span<std::byte>> pages);

 private:
  bool sees(std::span<const int> processes, std::span<const std::uint64_t> renewal_counts) const;
  bool follow(int process, std::uint64_t renewal_count);
  void move(std::span<std::byte> pages, std::uint64_t to) const;
  bool map(std::span<std::byte> pages, std::uint64_t file_offset) const;

  FileDescriptor file_;
  std::size_t mine_ = 0;
  std::vector<Process> processes_;
  std::vector<std::uint64_t> followed_;  // renewals of each that are seen here
  std::atomic<std::uint64_t> spare_used_ = 0;
  mutable std::shared_mutex mutex_;
};

}  // namespace fanin
