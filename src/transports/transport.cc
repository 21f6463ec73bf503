#include "transports/transport.h"

#include <fmt/format.h>

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

}  // namespace fanin
