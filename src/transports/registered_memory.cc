#include "transports/registered_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/system_error.h"

namespace fanin {

RegisteredMemory::RegisteredMemory(int fd, int mine, std::vector<Process> processes)
    : file_(::fcntl(fd, F_DUPFD_CLOEXEC, 0)),
      mine_(static_cast<std::size_t>(mine)),
      processes_(std::move(processes)),
      followed_(processes_.size(), 0) {
  if (!file_) throw_errno("keeping the shared memory open failed");
}

std::span<std::byte> RegisteredMemory::of(int process) const {
  if (is_for_threads()) return {};
  return processes_[static_cast<std::size_t>(process)].view;
}

std::uint64_t RegisteredMemory::renewal_count() const {
  if (is_for_threads()) return 0;
  return processes_[mine_].table->count.load(std::memory_order_relaxed);
}

bool RegisteredMemory::can_renew() const {
  if (is_for_threads()) return true;
  // Half is kept for the calls that are under way.
  return renewal_count() <= RenewalTable::kMost / 2 &&
         spare_used_ <= processes_[mine_].spare_bytes / 2;
}

bool RegisteredMemory::sees(std::span<const int> processes,
                            std::span<const std::uint64_t> renewal_counts) const {
  if (is_for_threads()) return true;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const auto process = static_cast<std::size_t>(processes[i]);
    if (process != mine_ && followed_[process] < renewal_counts[i]) return false;
  }
  return true;
}

std::optional<WriteAccess> RegisteredMemory::access(std::span<const int> processes,
                                                    std::span<const std::uint64_t> renewal_counts) {
  WriteAccess access(mutex_);
  if (sees(processes, renewal_counts)) [[likely]]
    return access;
  access.unlock();
  {
    const std::unique_lock lock(mutex_);
    for (std::size_t i = 0; i < processes.size(); ++i)
      if (std::cmp_not_equal(processes[i], mine_) && !follow(processes[i], renewal_counts[i]))
        return std::nullopt;
  }
  access.lock();
  if (sees(processes, renewal_counts)) return access;
  return std::nullopt;
}

/// Maps what a process has moved since; whether it is what was asked for.
bool RegisteredMemory::follow(int process, std::uint64_t renewal_count) {
  const Process& other = processes_[static_cast<std::size_t>(process)];
  std::uint64_t& followed = followed_[static_cast<std::size_t>(process)];
  if (renewal_count > RenewalTable::kMost) return false;
  for (; followed < renewal_count; ++followed) {
    const Renewal renewal = other.table->renewals[followed];
    const auto lies_in = [&](std::uint64_t begin, std::uint64_t bytes) {
      return begin <= bytes && renewal.bytes <= bytes - begin;
    };
    if (!lies_in(renewal.offset, other.view.size()) || renewal.file_offset < other.spare_begin ||
        !lies_in(renewal.file_offset - other.spare_begin, other.spare_bytes) ||
        !map(other.view.subspan(renewal.offset, renewal.bytes), renewal.file_offset))
      return false;
  }
  return true;
}

void RegisteredMemory::renew(std::span<const std::span<std::byte>> pages) {
  const std::unique_lock lock(mutex_);
  if (is_for_threads()) return;
  const Process& own = processes_[mine_];
  for (const std::span<std::byte>& each : pages) {
    if (each.empty()) continue;
    const std::uint64_t count = renewal_count();
    if (count == RenewalTable::kMost || each.size() > own.spare_bytes - spare_used_)
      throw Unavailable(
          "there is no room left to move registered memory away from ranks that may still write "
          "it; do not use the outputs of the call that failed");
    const std::uint64_t to = own.spare_begin + spare_used_;
    move(each, to);
    own.table->renewals[count] = {static_cast<std::uint64_t>(each.data() - own.view.data()),
                                  each.size(), to};
    spare_used_ += each.size();
    own.table->count.store(count + 1, std::memory_order_release);
  }
}

void RegisteredMemory::move(std::span<std::byte> pages, std::uint64_t to) const {
  for (std::size_t done = 0; done < pages.size();) {
    const ssize_t count = ::pwrite(file_.get(), pages.data() + done, pages.size() - done,
                                   static_cast<off_t>(to + done));
    if (count <= 0)
      throw_errno(
          "moving {} bytes of registered memory away from ranks that may still write it "
          "failed; do not use the outputs of the call that failed",
          pages.size());
    done += static_cast<std::size_t>(count);
  }
  ::madvise(pages.data(), pages.size(), MADV_REMOVE);
  if (!map(pages, to))
    throw_errno(
        "mapping {} bytes of registered memory anew failed; do not use the outputs of the "
        "call that failed",
        pages.size());
}

bool RegisteredMemory::map(std::span<std::byte> pages, std::uint64_t file_offset) const {
  void* const at =
      ::mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file_.get(), static_cast<off_t>(file_offset));
  if (at == MAP_FAILED) return false;
  ::madvise(pages.data(), pages.size(), MADV_DONTDUMP);
  return true;
}

}  // namespace fanin
