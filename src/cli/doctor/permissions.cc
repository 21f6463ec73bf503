#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "cli/doctor/findings.h"
#include "cli/units.h"
#include "core/file_descriptor.h"
#include "core/system_error.h"
#include "transports/flag_wait.h"

namespace fanin::cli {
namespace {

/// What a call that may be forbidden has shown: 0, or its error number.
Finding judge(std::string name, std::string value, int error, std::string advice) {
  if (error == 0) return {.name = std::move(name), .value = std::move(value)};
  return {.name = std::move(name),
          .value = fmt::format("{}: {}", value, describe_errno(error)),
          .health = health_of(error),
          .advice = std::move(advice)};
}

int try_sealed_memory() {
  const FileDescriptor file(::memfd_create("fanin-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), 4096) != 0) return errno;
  return ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 ? 0
                                                                                          : errno;
}

int try_reading_a_process() {
  int from = 1, to = 0;
  const iovec local{&to, sizeof to}, remote{&from, sizeof from};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == sizeof from ? 0 : errno;
}

int try_process_watch() {
  const FileDescriptor file(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  return file ? 0 : errno;
}

Finding find_shm() {
  struct statvfs found {};
  if (::statvfs("/dev/shm", &found) != 0)
    return {.name = "/dev/shm",
            .value = describe_errno(errno),
            .health = Health::kMissing,
            .advice = "Fanin does without it; MPI, NCCL and others in the same job may not"};
  return {.name = "/dev/shm",
          .value = fmt::format("{}, {} free", bytes_text(found.f_blocks * found.f_frsize),
                               bytes_text(found.f_bavail * found.f_frsize))};
}

Finding find_locked_memory() {
  rlimit found{};
  ::getrlimit(RLIMIT_MEMLOCK, &found);
  return {.name = "locked memory",
          .value = found.rlim_cur == RLIM_INFINITY ? "no limit" : bytes_text(found.rlim_cur)};
}

}  // namespace

std::vector<Finding> examine_permissions() {
  std::vector<Finding> findings;
  findings.push_back(judge("shared memory", "memfd_create and its seals", try_sealed_memory(),
                           "processes of this host cannot form a group; allow memfd_create in the "
                           "container's seccomp profile"));
  findings.back().is_needed = true;
  findings.push_back(judge("process watch", "pidfd_open", try_process_watch(),
                           "Fanin looks into /proc for dead peers instead"));
  const bool has_membarrier = prepare_wake_order() == WakeOrder::kSleeperPays;
  findings.push_back({.name = "membarrier",
                      .value = "GLOBAL_EXPEDITED",
                      .health = has_membarrier ? Health::kOk : Health::kForbidden,
                      .advice = has_membarrier ? "" : "each wake-up costs a little more"});
  findings.push_back({.name = "futex", .value = "every Linux has it"});
  findings.push_back(judge("peer memory", "process_vm_readv", try_reading_a_process(),
                           "Fanin does not use it yet; a container allows it with "
                           "--cap-add SYS_PTRACE"));
  findings.push_back(find_shm());
  findings.push_back(find_locked_memory());
  return findings;
}

}  // namespace fanin::cli
