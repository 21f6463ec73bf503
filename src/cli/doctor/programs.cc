#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>

#include "cli/doctor/findings.h"

namespace fanin::cli {
namespace {

/// tools/packages.sh installs the same packages.
struct Program {
  std::string_view name;
  std::string_view package;
  std::string_view use;
};

constexpr std::array kPrograms = {
    Program{"g++", "g++", "building"},
    Program{"cmake", "cmake", "building"},
    Program{"ninja", "ninja-build", "building"},
    Program{"python3", "python3", "benchmarks and lint"},
    Program{"clang-format", "clang-format", "the format test"},
    Program{"clang-tidy", "clang-tidy", "lint"},
    Program{"shellcheck", "shellcheck", "lint"},
    Program{"clang++", "clang", "fuzzers"},
    Program{"chromium", "chromium", "tests of pages"},
};

std::optional<std::string> find_program(std::string_view name, std::string_view search_path) {
  while (!search_path.empty()) {
    const std::size_t end = search_path.find(':');
    const std::filesystem::path file = std::filesystem::path(search_path.substr(0, end)) / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0)
      return file.string();
    if (end == std::string_view::npos) break;
    search_path.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Finding> examine_programs(std::string_view search_path) {
  std::vector<Finding> findings;
  for (const Program& program : kPrograms) {
    const auto found = find_program(program.name, search_path);
    findings.push_back({.name = std::string(program.name),
                        .value = found.value_or("not found"),
                        .health = found ? Health::kOk : Health::kMissing,
                        .advice = found ? ""
                                        : fmt::format("only for {}: apt-get install {}",
                                                      program.use, program.package)});
  }
  return findings;
}

}  // namespace fanin::cli
