#include "transports/in_process.h"

#include <fmt/format.h>

#include "transports/host_transport.h"

namespace fanin {
namespace {

class InProcess final : public HostTransport {
 public:
  InProcess(std::shared_ptr<HostMemory> memory, int rank, WakeOrder order, WaitTuning tuning)
      : HostTransport(std::move(memory), rank, order, tuning) {}

  std::string_view name() const override { return "in-process"; }
  Sight sight(int /*peer*/) const override { return Sight::kMemory; }

 protected:
  // A thread does not die alone; it can only leave.
  bool has_died(int /*peer*/) override { return false; }
  std::string describe(int peer) const override { return fmt::format("rank {}", peer); }
};

}  // namespace

std::vector<std::unique_ptr<Transport>> make_in_process(int size, std::size_t window_bytes) {
  return make_in_process(size, window_bytes, tuning_for(size));
}

std::vector<std::unique_ptr<Transport>> make_in_process(int size, std::size_t window_bytes,
                                                        WaitTuning tuning) {
  auto memory = std::make_shared<HostMemory>(HostMemory::make_private(size, window_bytes));
  memory->construct();
  const WakeOrder order = prepare_wake_order();
  std::vector<std::unique_ptr<Transport>> transports;
  transports.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    transports.push_back(std::make_unique<InProcess>(memory, rank, order, tuning));
  return transports;
}

}  // namespace fanin
