#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace fanin {

/// What went wrong, coarsely: what a caller can do about it. The numbers are stable.
enum class ErrorCode {
  kInvalidArgument = 1,   ///< the caller asked for something that cannot be; do not try again
  kDeadlineExceeded = 2,  ///< somebody did not come in time
  kPeerFailure = 3,       ///< another rank died or went away
  kUnavailable = 4,       ///< this machine or build cannot do it: a file, a system call, a library
  kCancelled = 5,         ///< the caller asked to stop
};

/// What went wrong, exactly. The numbers are stable; new kinds are added at the end.
enum class ErrorKind {
  kEmpty = 1,
  kShapeMismatch = 2,
  kDtypeMismatch = 3,
  kSparseMismatch = 4,
  kIndexOutOfRange = 5,
  kBadMethod = 6,
  kBadReduceOp = 7,
  kBadDestination = 8,
  kBadDevice = 9,
  kBadSpec = 10,
  kBadOption = 11,
  kRankMismatch = 12,
  kTimeout = 13,
  kPeerDied = 14,
  kSystem = 15,       ///< the operating system refused
  kBadFile = 16,      ///< a file is missing, damaged, or not of the kind that was asked for
  kBadSchedule = 17,  ///< a schedule's text cannot be read, or its proof fails
  kCancelled = 18,    ///< the caller asked to stop
};

/// "INVALID_ARGUMENT" and the like, as in conformance vectors and JSON.
std::string_view name(ErrorCode code);
std::string_view name(ErrorKind kind);

/// The code to which a kind belongs.
ErrorCode code_of(ErrorKind kind);

/// The library's one family of exceptions. what() names the thing, the value found, the rule, and
/// where it can what to do. Catch Error for all, or one of those below.
class Error : public std::runtime_error {
 public:
  ErrorKind kind() const noexcept { return kind_; }
  ErrorCode code() const noexcept { return code_; }

 protected:
  Error(ErrorKind kind, const std::string& message);

 private:
  ErrorKind kind_;
  ErrorCode code_;
};

class InvalidArgument : public Error {
 public:
  InvalidArgument(ErrorKind kind, const std::string& message) : Error(kind, message) {}
};

class DeadlineExceeded : public Error {
 public:
  explicit DeadlineExceeded(const std::string& message) : Error(ErrorKind::kTimeout, message) {}
};

class PeerFailure : public Error {
 public:
  explicit PeerFailure(const std::string& message) : Error(ErrorKind::kPeerDied, message) {}
};

class Cancelled : public Error {
 public:
  explicit Cancelled(const std::string& message) : Error(ErrorKind::kCancelled, message) {}
};

class Unavailable : public Error {
 public:
  explicit Unavailable(const std::string& message) : Error(ErrorKind::kSystem, message) {}
};

}  // namespace fanin
