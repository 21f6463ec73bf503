#include "transports/in_process.h"

#include <fmt/format.h>

#include "transports/host_transport.h"

namespace fanin {
namespace {

class InProcess final : public HostTransport {
 public:
  InProcess(std::shared_ptr<HostMemory> memory, Place place, How how)
      : HostTransport(std::move(memory), std::move(place), how) {}

  std::string_view name() const override { return "in-process"; }
  Sight sight(int /*peer*/) const override { return Sight::kMemory; }

  std::string describe(int peer) const override { return fmt::format("rank {}", peer); }
  std::unique_ptr<Transport> open(int channel, int epoch_channel, std::span<const int> ranks,
                                  std::uint64_t) override {
    return std::make_unique<InProcess>(memory(), place_of(channel, epoch_channel, ranks), how());
  }

 protected:
  // A thread does not die alone; it can only leave.
  bool has_died(int /*peer*/) override { return false; }
};

}  // namespace

std::vector<std::unique_ptr<Transport>> make_in_process(int size, std::size_t window_bytes) {
  return make_in_process(size, window_bytes, tuning_for_threads(size));
}

std::vector<std::unique_ptr<Transport>> make_in_process(int size, std::size_t window_bytes,
                                                        WaitTuning tuning) {
  auto memory = std::make_shared<HostMemory>(HostMemory::make_private(size, window_bytes));
  memory->construct();
  const WakeOrder order = prepare_wake_order();
  std::vector<std::unique_ptr<Transport>> transports;
  transports.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    transports.push_back(std::make_unique<InProcess>(
        memory, HostTransport::Place::of_all(size, rank), HostTransport::How{order, tuning}));
  return transports;
}

}  // namespace fanin
