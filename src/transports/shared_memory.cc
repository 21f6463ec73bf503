#include "transports/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "core/require.h"
#include "core/system_error.h"
#include "transports/core_for_each.h"
#include "transports/epoch.h"
#include "transports/host_transport.h"
#include "transports/process_memory.h"
#include "transports/process_watch.h"
#include "transports/rendezvous.h"

namespace fanin {
namespace {

class SharedMemory final : public HostTransport {
 public:
  SharedMemory(std::shared_ptr<HostMemory> memory, Place place, How how)
      : HostTransport(std::move(memory), std::move(place), how) {
    peers_.reserve(static_cast<std::size_t>(size()));
    for (int peer = 0; peer < size(); ++peer)
      peers_.emplace_back(static_cast<pid_t>(this->memory()->process(member(peer)).pid.load()));
  }

  std::string_view name() const override { return "shared-memory"; }
  Sight sight(int peer) const override { return peer == rank() ? Sight::kMemory : Sight::kWindow; }

  std::unique_ptr<Transport> open(int channel, int epoch_channel, std::span<const int> ranks,
                                  std::uint64_t) override {
    return std::make_unique<SharedMemory>(memory(), place_of(channel, epoch_channel, ranks), how());
  }

  bool can_fetch() override {
    if (!can_fetch_) can_fetch_ = try_to_fetch();
    return can_fetch_.value_or(false);
  }

  void fetch(int peer, std::span<const Fetched> pieces, const Call& call) override {
    const int error = read_memory_of(peers_[static_cast<std::size_t>(peer)].pid(), pieces);
    if (error == 0) return;
    require_epoch(*this, call);  // whoever has given up need not have that memory any more
    can_fetch_ = false;          // there is memory that the kernel does not copy: not again
    throw PeerFailure(fmt::format("rank {} cannot read memory of {} ({}): {}", rank(),
                                  describe(peer), describe_errno(error), call.describe()));
  }

  std::string describe(int peer) const override {
    const ProcessWatch& watch = peers_[static_cast<std::size_t>(peer)];
    return fmt::format("rank {} (process {}{})", peer, watch.pid(),
                       watch.is_stopped() ? ", which is stopped by a signal" : "");
  }

 protected:
  bool has_died(int peer) override { return peers_[static_cast<std::size_t>(peer)].has_ended(); }

 private:
  /// Reads what is known already from all others; none if not all of them have come so far.
  std::optional<bool> try_to_fetch() {
    for (int peer = 0; peer < size(); ++peer) {
      const ProcessControl& control = memory()->process(member(peer));
      const std::uint64_t address = control.address.load();
      if (address == 0) return std::nullopt;
      std::uint32_t pid = 0;
      const Fetched seen{reinterpret_cast<std::byte*>(&pid), address, sizeof pid};
      if (read_memory_of(peers_[static_cast<std::size_t>(peer)].pid(), {&seen, 1}) != 0 ||
          pid != control.pid.load())
        return false;
    }
    return true;
  }

  std::vector<ProcessWatch> peers_;
  std::optional<bool> can_fetch_ = std::nullopt;  // if it has been tried
};

/// Memory without a name, whose size nobody can change any more.
FileDescriptor make_memory_file(std::size_t bytes) {
  FileDescriptor file(::memfd_create("fanin", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) throw_errno("memfd_create for {} bytes of shared memory failed", bytes);
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    throw_errno("making shared memory of {} bytes failed", bytes);
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw_errno("sealing shared memory failed");
  return file;
}

std::vector<pid_t> processes_of(HostMemory& memory) {
  std::vector<pid_t> processes;
  processes.reserve(static_cast<std::size_t>(memory.size()));
  for (int rank = 0; rank < memory.size(); ++rank)
    processes.push_back(static_cast<pid_t>(memory.process(rank).pid.load()));
  return processes;
}

/// Where processes may run can change at any time; so that all agree, the first to look tells.
CoreUse agree_on_core_use(HostMemory& memory) {
  const std::uint64_t mine = find_core_use(processes_of(memory)).pack();
  std::uint64_t told = 0;
  if (memory.header().core_use.compare_exchange_strong(told, mine)) told = mine;
  return CoreUse::unpack(told, static_cast<std::size_t>(memory.size()));
}

Admission host(const RendezvousOptions& options, WakeOrder order) {
  const FileDescriptor file =
      make_memory_file(HostMemory::bytes_for(options.size, options.window_bytes));
  HostMemory memory = HostMemory::map_file(file.get(), 0, options.size, options.window_bytes);
  memory.construct();
  memory.process(0).pid.store(static_cast<std::uint32_t>(::getpid()));
  if (options.size > 1) order = host_rendezvous(options, memory, file.get(), order);
  return {std::move(memory), order};
}

}  // namespace

std::unique_ptr<Transport> join_shared_memory(const RendezvousOptions& options,
                                              std::optional<WaitTuning> tuning) {
  require(options.rank >= 0 && options.rank < options.size, ErrorKind::kBadOption,
          "rank {} does not exist in a group of {}; ranks count from 0", options.rank,
          options.size);
  const WakeOrder order = prepare_wake_order();
  Admission admission = options.rank == 0 ? host(options, order) : enter_rendezvous(options, order);
  ProcessControl& mine = admission.memory.process(options.rank);
  mine.address.store(reinterpret_cast<std::uint64_t>(&mine));
  CoreUse use = agree_on_core_use(admission.memory);
  if (!tuning) tuning = tuning_for(use.have_one_each);
  return std::make_unique<SharedMemory>(
      std::make_shared<HostMemory>(std::move(admission.memory)),
      HostTransport::Place::of_all(options.size, options.rank),
      HostTransport::How{admission.order, *tuning, std::move(use.core_mates)});
}

std::unique_ptr<Transport> join_shared_memory(const std::filesystem::path& path, int rank, int size,
                                              std::size_t window_bytes, Deadline deadline,
                                              std::optional<WaitTuning> tuning) {
  return join_shared_memory({path, rank, size, window_bytes, deadline}, tuning);
}

}  // namespace fanin
