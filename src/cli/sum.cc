#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/term_files.h"
#include "cli/units.h"
#include "fanin/aggregator.h"
#include "kernels/arithmetic.h"

namespace fanin::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct SumArguments {
  std::vector<std::string> inputs;
  std::string output;
  bool mean = false;
  std::string method = "AUTO";
  std::string accumulation = "wide";
  std::string memory;
  bool explain = false;
  bool json = false;
};

/// What all sums of a run have cost together.
struct Totals {
  AggregationMethod method = AggregationMethod::kAuto;  // of the last
  std::size_t peak_bytes = 0;
  double sum_seconds = 0;
  std::string explanation;  // of the largest tensor
  std::size_t largest = 0;
};

ReduceOp op_of(const SumArguments& arguments) {
  return arguments.mean ? ReduceOp::kMean : ReduceOp::kSum;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Reads the terms of one tensor one after the other, each only when its sum wants it.
Tensor sum_entry(const TermFiles& files, const TermEntry& entry, AggregationMethod method,
                 const SumOptions& options, const OnBytes& on_bytes, Totals& totals) {
  Aggregator aggregator(static_cast<int>(files.file_count()), method, options);
  for (std::size_t file = 0; file < files.file_count(); ++file)
    aggregator.push(files.read(file, entry, on_bytes));
  Tensor sum = std::get<Tensor>(*aggregator.finish());
  const AggregationRecord record = aggregator.record();
  totals.method = record.method;
  totals.peak_bytes = std::max(totals.peak_bytes, record.peak_bytes);
  totals.sum_seconds += std::chrono::duration<double>(record.busy_time).count();
  if (totals.explanation.empty() || entry.byte_count() > totals.largest) {
    totals.largest = entry.byte_count();
    totals.explanation = to_string(aggregator.explain());
  }
  return sum;
}

void print_result(const SumArguments& arguments, const TermFiles& files, const Totals& totals,
                  double seconds) {
  const std::size_t term_bytes = files.byte_count() / files.file_count();
  const ReduceOp op = op_of(arguments);
  if (arguments.json) {
    auto tensors = nlohmann::ordered_json::array();
    for (const TermEntry& entry : files.entries())
      tensors.push_back(
          {{"name", entry.name},
           {"dtype", name(result_dtype(op, entry.dtype))},
           {"shape", std::vector(entry.shape.dims().begin(), entry.shape.dims().end())}});
    const nlohmann::ordered_json object = {{"output", arguments.output},
                                           {"terms", arguments.inputs.size()},
                                           {"mean", arguments.mean},
                                           {"method", name(totals.method)},
                                           {"accumulation", arguments.accumulation},
                                           {"tensors", tensors},
                                           {"term_bytes", term_bytes},
                                           {"peak_bytes", totals.peak_bytes},
                                           {"seconds", seconds},
                                           {"sum_seconds", totals.sum_seconds}};
    fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  const TermEntry* const only = files.entries().size() == 1 ? &files.entries().front() : nullptr;
  const std::string what =
      only != nullptr
          ? fmt::format("{} {}", name(result_dtype(op, only->dtype)), to_string(only->shape))
          : fmt::format("{} tensors", files.entries().size());
  fmt::print("{}: {} of {} {}, {}, {}, in {} ({} to add by {}, {} in hand at most)\n",
             arguments.output, arguments.mean ? "mean" : "sum", arguments.inputs.size(),
             arguments.inputs.size() == 1 ? "term" : "terms", what, bytes_text(term_bytes),
             seconds_text(seconds), seconds_text(totals.sum_seconds), name(totals.method),
             bytes_text(totals.peak_bytes));
  if (arguments.explain) fmt::print("{}", totals.explanation);
}

void run_sum(const SumArguments& arguments) {
  const auto begin = Clock::now();
  const AggregationMethod method = parse_aggregation_method(arguments.method);
  SumOptions options{.accumulation = parse_accumulation(arguments.accumulation),
                     .mean = arguments.mean};
  if (!arguments.memory.empty()) options.memory_budget_bytes = parse_bytes(arguments.memory);
  // Wrong options are told before a file is touched.
  static_cast<void>(Aggregator(static_cast<int>(arguments.inputs.size()), method, options));
  const TermFiles files(arguments.inputs);
  SumFile output(arguments.output, files, op_of(arguments));

  Totals totals{.method = method, .explanation = {}};
  {
    Progress progress(files.byte_count() + files.byte_count() / files.file_count(),
                      !arguments.json);
    const OnBytes on_bytes = [&](std::size_t bytes) { progress.add(bytes); };
    for (const TermEntry& entry : files.entries()) {
      progress.start(entry.name.empty() ? "summing" : "summing " + entry.name);
      const Tensor sum = sum_entry(files, entry, method, options, on_bytes, totals);
      output.write(entry, sum, on_bytes);
    }
    progress.start("writing " + arguments.output);
    output.commit();
  }
  print_result(arguments, files, totals, seconds_since(begin));
}

}  // namespace

void add_sum(Command tool, ExitCode& /*exit_code*/) {
  Command command = tool.add_subcommand(
      "sum", "Add the arrays of .npy files, or the tensors of .safetensors files by name");
  const auto arguments = std::make_shared<SumArguments>();
  command
      .add_option("FILES", arguments->inputs,
                  "Arrays of one shape and one dtype, or files with the same tensors")
      .required();
  command
      .add_option("-o,--output", arguments->output,
                  "Where the sum goes; may be one of FILES. It is replaced only when all is done")
      .required();
  command.add_flag(
      "--mean", arguments->mean,
      "Divide by the number of files. Integers give float32 (8 and 16 bit) or float64");
  command
      .add_option("--method", arguments->method,
                  "ADD_N: one pass, holds a tensor of every file; TREE: holds a logarithm of them; "
                  "ACCUMULATE_N: holds one and the sum; AUTO: the first that fits --memory")
      .with_default();
  command
      .add_option("--accumulation", arguments->accumulation,
                  "wide: halves are added in float32 and rounded once; native: rounded at each "
                  "step, as TensorFlow does; exact: the exact sum, rounded once, "
                  "the same in any order of FILES")
      .with_default();
  command.add_option("--memory", arguments->memory,
                     "What AUTO may hold at once, such as 2G; a quarter of the machine's memory "
                     "if it is not given");
  command.add_flag("--explain", arguments->explain,
                   "Say which method was taken for the largest tensor, why, and what others cost");
  command.add_flag("--json", arguments->json, "Print an object, for scripts");
  command.footer(
      "Example: fanin sum worker0.npy worker1.npy worker2.npy -o gradient.npy\n"
      "         fanin sum --mean a.safetensors b.safetensors -o soup.safetensors");
  command.callback([arguments] { run_sum(*arguments); });
}

}  // namespace fanin::cli
