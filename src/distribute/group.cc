#include "fanin/group.h"

#include <fmt/format.h>

#include "transports/transport.h"

namespace fanin {
namespace {

constexpr int kCompletionFlag = 1;

}  // namespace

class Group::State {
 public:
  State(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout)
      : transport_(std::move(transport)), timeout_(timeout) {}

  Transport& transport() { return *transport_; }

  void barrier() {
    const Deadline deadline = deadline_after(timeout_);
    const std::string what = fmt::format("barrier {}", ++barrier_count_);
    transport_->publish(kCompletionFlag, barrier_count_);
    for (int peer = 0; peer < transport_->size(); ++peer)
      transport_->wait(peer, kCompletionFlag, barrier_count_, deadline, what);
  }

 private:
  std::unique_ptr<Transport> transport_;
  std::chrono::duration<double> timeout_;
  std::uint64_t barrier_count_ = 0;
};

Group::Group(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout)
    : state_(std::make_unique<State>(std::move(transport), timeout)) {}
Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;
Group::~Group() = default;

int Group::rank() const { return state_->transport().rank(); }
int Group::size() const { return state_->transport().size(); }
void Group::barrier() { state_->barrier(); }

}  // namespace fanin
