#include "transports/transport.h"

#include <fmt/format.h>

#include <algorithm>

#include "transports/epoch.h"

namespace fanin {

void throw_epoch_end(const EpochEnd& end, const Call& call) {
  const std::string sentence =
      fmt::format("{}: rank {} gave up: {}", call.describe(), end.rank, end.sentence);
  switch (code_of(end.kind)) {
    case ErrorCode::kInvalidArgument:
      throw InvalidArgument(end.kind, sentence);
    case ErrorCode::kDeadlineExceeded:
      throw DeadlineExceeded(sentence);
    case ErrorCode::kUnavailable:
      throw Unavailable(sentence);
    case ErrorCode::kCancelled:
      throw Cancelled(sentence);
    case ErrorCode::kPeerFailure:
      break;
  }
  throw PeerFailure(sentence);
}

void Transport::fetch(int peer, std::span<const Fetched>, const Call& call) {
  throw PeerFailure(fmt::format("{} tells where its memory is, which nobody can read: {}",
                                describe(peer), call.describe()));
}

std::string describe_last_sign(const Transport& transport, int rank) {
  std::uint64_t last = 0;
  const auto look = [&](const Transport& at) {
    for (const int flag : {Transport::kCallFlags, Transport::kCallFlags + 1})
      last = std::max(last, at.peek(rank, flag));
  };
  look(transport);
  for (const Transport* const other : transport.beside()) look(*other);
  if (count_of(last) == 0) return "it has not entered any operation of this epoch";
  return fmt::format("it last entered operation {}{}", count_of(last),
                     epoch_of(last) == transport.epoch() ? "" : " of an earlier epoch");
}

}  // namespace fanin
