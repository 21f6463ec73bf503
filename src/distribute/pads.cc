#include "distribute/pads.h"

#include <fmt/format.h>

namespace fanin {

std::span<std::byte> Pad::bytes() {
  std::call_once(once_, [this] {
    if (!pool_) return;
    try {
      buffer_ = pool_->allocate(Lane::kCount * kBytesOfLane);
    } catch (const Unavailable&) {
      // Windows need no registered memory.
    }
  });
  return buffer_.bytes();
}

Pads::Pads(Pad& mine, int lane, int rank_count)
    : mine_(mine),
      lane_(lane),
      renewal_counts_(static_cast<std::size_t>(rank_count)),
      last_words_(static_cast<std::size_t>(rank_count)) {
  for (auto& begins : begins_) begins.resize(static_cast<std::size_t>(rank_count));
}

std::optional<Pads::Words> Pads::tell(Transport& transport) {
  const std::span<std::byte> bytes = mine_.bytes();
  const std::optional<std::uint64_t> renewal_count = transport.renewal_count();
  if (bytes.empty() || !renewal_count) return std::nullopt;
  const std::byte* const base = transport.registered(transport.rank()).data();
  return Words{*renewal_count, static_cast<std::uint64_t>(bytes.data() - base)};
}

void Pads::read(Transport& transport, int rank, const Words& words) {
  const auto at = static_cast<std::size_t>(rank);
  if (last_words_[at] == words) return;
  const std::span<std::byte> theirs = transport.registered(rank);
  constexpr std::size_t kBytes = Lane::kCount * Pad::kBytesOfLane;
  if (words[1] > theirs.size() || kBytes > theirs.size() - words[1])
    throw PeerFailure(fmt::format("{} says that its pad lies outside of its registered memory",
                                  transport.describe(rank)));
  for (std::size_t lane = 0; lane < begins_.size(); ++lane)
    begins_[lane][at] = theirs.data() + words[1] + lane * Pad::kBytesOfLane;
  renewal_counts_[at] = words[0];
  last_words_[at] = words;
}

WindowPlan::Rooms Pads::look_up(bool are_alone) const {
  return {begins_[are_alone ? 0 : static_cast<std::size_t>(lane_)], renewal_counts_};
}

void Pads::give_up(Transport& transport, bool is_alone) {
  std::array<std::span<std::byte>, 2> pieces = {mine_.of_lane(lane_)};
  if (is_alone && lane_ != 0) pieces[1] = mine_.of_lane(0);
  transport.renew(pieces);
}

}  // namespace fanin
