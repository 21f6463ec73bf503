#include "cli/command.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

#include "fanin/error.h"

namespace fanin::cli {
namespace {

/// What is wrong with a command line, and where to read on.
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

Option& Option::required(bool is_required) {
  option_->required(is_required);
  return *this;
}

Option& Option::with_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::in_range(int lowest, int highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Option& Option::above_zero() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::in_group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

bool Option::is_given() const { return option_->count() > 0; }

std::string Option::name() const { return option_->get_name(); }

Command Command::add_subcommand(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}

Option Command::add_option(const std::string& names, std::string& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::vector<std::string>& value,
                           const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, int& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::uint64_t& value,
                           const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, double& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::optional<int>& value,
                           const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::optional<double>& value,
                           const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::optional<std::string>& value,
                           const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<void()> work) { app_->callback(std::move(work)); }

CommandLine::CommandLine(const std::string& name, const std::string& help)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() { return Command(app_.get()); }

void CommandLine::run(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0)
      throw InvalidArgument(ErrorKind::kBadOption, sentence_of(*app_, error));
    app_->exit(error, std::cout, std::cerr);  // --help
  }
}

}  // namespace fanin::cli
