#include "cli/errors.h"

#include <fmt/core.h>

#include <cstdio>
#include <iostream>
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

/// What is wrong with a command, and where to read on.
std::string sentence_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  if (!chosen.empty())
    return fmt::format("{}; see {} {} --help", error.what(), app.get_name(),
                       chosen.front()->get_name());
  const auto unknown = app.remaining();
  const auto what =
      unknown.empty() ? "name a command" : fmt::format("\"{}\" is not a command", unknown.front());
  return fmt::format("{}; see {} --help", what, app.get_name());
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

ExitCode report(const CLI::App& app, const CLI::ParseError& error, bool json) {
  if (error.get_exit_code() == 0) {  // --help
    app.exit(error, std::cout, std::cerr);
    return ExitCode::kDone;
  }
  print(name(ErrorCode::kInvalidArgument), name(ErrorKind::kBadOption), sentence_of(app, error),
        json);
  return ExitCode::kBadInput;
}

ExitCode report(const std::exception& error, bool json) {
  print(name(ErrorCode::kUnavailable), name(ErrorKind::kSystem), error.what(), json);
  return ExitCode::kFailed;
}

}  // namespace fanin::cli
