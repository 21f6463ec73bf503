#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/conformance/runner.h"
#include "fanin/context.h"

namespace fanin::cli {
namespace {

struct ConformanceArguments {
  std::vector<std::string> files;
  bool json = false;
};

void print_json(const Report& report) {
  nlohmann::json failures = nlohmann::json::array();
  for (const Failure& failure : report.failures)
    failures.push_back({{"id", failure.id}, {"expected", failure.expected}, {"got", failure.got}});
  const nlohmann::json object = {{"passed", report.passed},
                                 {"failed", report.failures.size()},
                                 {"skipped", report.skipped},
                                 {"failures", failures}};
  fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_text(const Report& report) {
  for (const Failure& failure : report.failures)
    fmt::print("{}: expected {}, got {}\n", failure.id, failure.expected, failure.got);
  fmt::print("{} passed, {} failed, {} skipped\n", report.passed, report.failures.size(),
             report.skipped);
}

}  // namespace

void add_conformance(Command tool, ExitCode& exit_code) {
  Command command = tool.add_subcommand(
      "conformance", "Run files of cases with their answers, and print each that fails");
  const auto arguments = std::make_shared<ConformanceArguments>();
  command.add_option("FILES", arguments->files, "Cases, one JSON object on each line").required();
  command.add_flag("--json", arguments->json, "Print an object, for scripts");
  command.footer(
      "tests/vectors/README.md describes the cases. Those that a C++ program cannot state are "
      "skipped.\nExample: fanin conformance tests/vectors/add_n.jsonl tests/vectors/device.jsonl");
  command.callback([arguments, &exit_code] {
    Context::process().on_warning([](std::string_view) {});  // cases that warn do so on purpose
    Report report;
    for (const std::string& file : arguments->files) run_cases(file, report);
    arguments->json ? print_json(report) : print_text(report);
    if (!report.failures.empty()) exit_code = ExitCode::kFailed;
  });
}

}  // namespace fanin::cli
