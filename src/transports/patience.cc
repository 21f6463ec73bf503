#include "transports/patience.h"

#include <fmt/format.h>

#include <thread>

namespace fanin {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr auto kYieldingTime = 500us;
constexpr auto kShortYieldingTime = 20us;
constexpr auto kSleep = 20us;
constexpr auto kLookAtPeers = 10ms;

}  // namespace

void Patience::rest(Transport& transport, int peer, Call& call, const std::function<bool()>& look) {
  if (transport.epoch() != call.epoch) throw_epoch_end(transport.end_of(call.epoch), call);
  const Deadline now = Clock::now();
  if (!since_) since_ = now;
  if (!looked_at_peers_ || now - *looked_at_peers_ >= kLookAtPeers) {
    if (looked_at_peers_ && transport.is_gone(peer)) {
      if (look()) return renew();
      throw PeerFailure(fmt::format("rank {} waited for {}, which has left the group or died: {}",
                                    transport.rank(), transport.describe(peer), call.describe()));
    }
    looked_at_peers_ = now;
  }
  if (now >= call.until())
    throw DeadlineExceeded(
        fmt::format("rank {} waited {:.3g} s for {}, until the deadline: {}; {}", transport.rank(),
                    std::chrono::duration<double>(now - *since_).count(), transport.describe(peer),
                    call.describe(), describe_last_sign(transport, peer)));
  if (now - *since_ >= (call.in_background ? kShortYieldingTime : kYieldingTime))
    std::this_thread::sleep_for(kSleep);
  else
    std::this_thread::yield();
}

}  // namespace fanin
