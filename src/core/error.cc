#include "fanin/error.h"

#include <array>
#include <utility>

namespace fanin {
namespace {

struct KindEntry {
  ErrorKind kind;
  ErrorCode code;
  std::string_view name;
};

constexpr std::array kKinds = {
    KindEntry{ErrorKind::kEmpty, ErrorCode::kInvalidArgument, "EMPTY"},
    KindEntry{ErrorKind::kShapeMismatch, ErrorCode::kInvalidArgument, "SHAPE_MISMATCH"},
    KindEntry{ErrorKind::kDtypeMismatch, ErrorCode::kInvalidArgument, "DTYPE_MISMATCH"},
    KindEntry{ErrorKind::kSparseMismatch, ErrorCode::kInvalidArgument, "SPARSE_MISMATCH"},
    KindEntry{ErrorKind::kIndexOutOfRange, ErrorCode::kInvalidArgument, "INDEX_OUT_OF_RANGE"},
    KindEntry{ErrorKind::kBadMethod, ErrorCode::kInvalidArgument, "BAD_METHOD"},
    KindEntry{ErrorKind::kBadReduceOp, ErrorCode::kInvalidArgument, "BAD_REDUCE_OP"},
    KindEntry{ErrorKind::kBadDestination, ErrorCode::kInvalidArgument, "BAD_DESTINATION"},
    KindEntry{ErrorKind::kBadDevice, ErrorCode::kInvalidArgument, "BAD_DEVICE"},
    KindEntry{ErrorKind::kBadSpec, ErrorCode::kInvalidArgument, "BAD_SPEC"},
    KindEntry{ErrorKind::kBadOption, ErrorCode::kInvalidArgument, "BAD_OPTION"},
    KindEntry{ErrorKind::kRankMismatch, ErrorCode::kInvalidArgument, "RANK_MISMATCH"},
    KindEntry{ErrorKind::kTimeout, ErrorCode::kDeadlineExceeded, "TIMEOUT"},
    KindEntry{ErrorKind::kPeerDied, ErrorCode::kPeerFailure, "PEER_DIED"},
    KindEntry{ErrorKind::kSystem, ErrorCode::kUnavailable, "SYSTEM"},
    KindEntry{ErrorKind::kBadFile, ErrorCode::kInvalidArgument, "BAD_FILE"},
    KindEntry{ErrorKind::kBadSchedule, ErrorCode::kInvalidArgument, "BAD_SCHEDULE"},
    KindEntry{ErrorKind::kCancelled, ErrorCode::kCancelled, "CANCELLED"},
};

const KindEntry& entry(ErrorKind kind) {
  for (const KindEntry& entry : kKinds)
    if (entry.kind == kind) return entry;
  throw std::logic_error("an error kind is missing from the table");
}

}  // namespace

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case ErrorCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case ErrorCode::kPeerFailure:
      return "PEER_FAILURE";
    case ErrorCode::kUnavailable:
      return "UNAVAILABLE";
    case ErrorCode::kCancelled:
      return "CANCELLED";
  }
  throw std::logic_error("an error code has no name");
}

std::string_view name(ErrorKind kind) { return entry(kind).name; }

ErrorCode code_of(ErrorKind kind) { return entry(kind).code; }

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(message), kind_(kind), code_(fanin::code_of(kind)) {}

}  // namespace fanin
