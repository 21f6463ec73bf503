#include "cli/errors.h"

#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fanin::cli {
namespace {

void print(std::string_view code, std::string_view kind, std::string_view message, bool json) {
  fmt::print(stderr, "fanin: {}\n", message);
  if (!json) return;
  const nlohmann::json object = {{"error", {{"code", code}, {"kind", kind}, {"message", message}}}};
  // A path need not be UTF-8.
  fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return ExitCode::kBadInput;
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kPeerFailure:
      return ExitCode::kDeadlineOrPeer;
    case ErrorCode::kUnavailable:
    case ErrorCode::kCancelled:
      return ExitCode::kFailed;
  }
  return ExitCode::kFailed;
}

}  // namespace

bool asks_for_json(std::span<char* const> arguments) {
  for (const std::string_view argument : arguments) {
    if (argument == "--") return false;
    if (argument == "--json") return true;
  }
  return false;
}

ExitCode report(const Error& error, bool json) {
  print(name(error.code()), name(error.kind()), error.what(), json);
  return exit_code_of(error.code());
}

ExitCode report(const std::exception& error, bool json) {
  print(name(ErrorCode::kUnavailable), name(ErrorKind::kSystem), error.what(), json);
  return ExitCode::kFailed;
}

}  // namespace fanin::cli
