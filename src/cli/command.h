#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// CLI11 stands behind these, in one source: its templates take seconds wherever they are compiled.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fanin::cli {

/// One option or argument of a command. A handle: copies are the same option.
class Option {
 public:
  Option& required(bool is_required = true);
  /// --help shows the value that it has now.
  Option& with_default();
  Option& in_range(int lowest, int highest);
  Option& above_zero();
  /// They may not be given together.
  Option& excludes(const Option& other);
  /// --help lists it under this heading.
  Option& in_group(const std::string& heading);
  /// Once the command line is read.
  bool is_given() const;
  /// "--ranks", or "FILES".
  std::string name() const;

 private:
  friend class Command;
  explicit Option(CLI::Option* option) : option_(option) {}
  CLI::Option* option_;
};

/// The tool, or one of its commands, while its options are named. A handle, as Option.
class Command {
 public:
  Command add_subcommand(const std::string& name, const std::string& help);

  /// `names` is "-n,--ranks", or "FILES" for an argument by position. What is given is written into
  /// `value`, which has to live until the command has run.
  Option add_option(const std::string& names, std::string& value, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& value,
                    const std::string& help);
  Option add_option(const std::string& names, int& value, const std::string& help);
  Option add_option(const std::string& names, std::uint64_t& value, const std::string& help);
  Option add_option(const std::string& names, double& value, const std::string& help);
  Option add_option(const std::string& names, std::optional<int>& value, const std::string& help);
  Option add_option(const std::string& names, std::optional<double>& value,
                    const std::string& help);
  Option add_option(const std::string& names, std::optional<std::string>& value,
                    const std::string& help);
  Option add_flag(const std::string& names, bool& value, const std::string& help);

  /// What --help ends with.
  void footer(const std::string& text);
  /// What is done when the command is chosen.
  void callback(std::function<void()> work);

 private:
  friend class CommandLine;
  explicit Command(CLI::App* app) : app_(app) {}
  CLI::App* app_;
};

/// The whole tool.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& help);
  ~CommandLine();

  Command root();

  /// Runs the command that is named, or prints the help that is asked for. Throws InvalidArgument
  /// for what cannot be read, with where to read on, and whatever the command throws.
  void run(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace fanin::cli
