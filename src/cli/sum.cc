#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "core/require.h"
#include "fanin/add_n.h"
#include "files/npy.h"

namespace fanin::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct SumArguments {
  std::vector<std::string> inputs;
  std::string output;
  bool mean = false;
  std::string accumulation = "wide";
  bool json = false;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Compares the headers, so that nothing large is read in vain. Returns the bytes of all data.
std::size_t check_inputs(const std::vector<std::string>& paths) {
  const NpyHeader first = read_npy_header(paths.front());
  const std::size_t bytes = first.shape.element_count() * size_of(first.dtype);
  for (const std::string& path : paths) {
    const NpyHeader header = read_npy_header(path);
    require(header.dtype == first.dtype, ErrorKind::kDtypeMismatch,
            "{} is {} but {} is {}; the terms of a sum have one dtype", paths.front(),
            name(first.dtype), path, name(header.dtype));
    require(header.shape == first.shape, ErrorKind::kShapeMismatch,
            "{} has shape {} but {} has shape {}; the terms of a sum have one shape", paths.front(),
            to_string(first.shape), path, to_string(header.shape));
  }
  return bytes * paths.size();
}

std::vector<NpyArray> read_all(const std::vector<std::string>& paths, Progress& progress) {
  std::vector<NpyArray> arrays;
  arrays.reserve(paths.size());
  for (const std::string& path : paths) {
    progress.start("reading " + path);
    arrays.push_back(
        read_npy(path, Context::process(), [&](std::size_t bytes) { progress.add(bytes); }));
  }
  // Fortran order stays if all have it.
  const auto is_transposed = [](const NpyArray& array) { return array.is_transposed; };
  if (!std::ranges::all_of(arrays, is_transposed))
    for (NpyArray& array : arrays) array = to_row_major(array, Context::process());
  return arrays;
}

NpyArray add(const std::vector<NpyArray>& arrays, const SumOptions& options) {
  std::vector<Tensor> terms;
  terms.reserve(arrays.size());
  for (const NpyArray& array : arrays) terms.push_back(array.tensor);
  return {add_n(terms, options), arrays.front().is_transposed};
}

void print_result(const SumArguments& arguments, const NpyArray& sum, double seconds,
                  double sum_seconds) {
  const Shape shape = sum.shape();
  if (arguments.json) {
    const nlohmann::json object = {{"output", arguments.output},
                                   {"terms", arguments.inputs.size()},
                                   {"mean", arguments.mean},
                                   {"accumulation", arguments.accumulation},
                                   {"dtype", name(sum.tensor.dtype())},
                                   {"shape", std::vector(shape.dims().begin(), shape.dims().end())},
                                   {"bytes", sum.tensor.bytes().size()},
                                   {"seconds", seconds},
                                   {"sum_seconds", sum_seconds}};
    fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print("{}: {} of {} {}, {} {}, {}, in {} ({} to add)\n", arguments.output,
             arguments.mean ? "mean" : "sum", arguments.inputs.size(),
             arguments.inputs.size() == 1 ? "term" : "terms", name(sum.tensor.dtype()),
             to_string(shape), bytes_text(sum.tensor.bytes().size()), seconds_text(seconds),
             seconds_text(sum_seconds));
}

void run_sum(const SumArguments& arguments) {
  const auto begin = Clock::now();
  const SumOptions options{.accumulation = parse_accumulation(arguments.accumulation),
                           .mean = arguments.mean};
  check_npy_target(arguments.output);
  const std::size_t input_bytes = check_inputs(arguments.inputs);

  NpyArray sum;
  double sum_seconds = 0;
  {
    Progress progress(input_bytes + input_bytes / arguments.inputs.size(), !arguments.json);
    const auto arrays = read_all(arguments.inputs, progress);
    progress.start("adding");
    const auto sum_begin = Clock::now();
    sum = add(arrays, options);
    sum_seconds = seconds_since(sum_begin);
    progress.start("writing " + arguments.output);
    write_npy(arguments.output, sum, [&](std::size_t bytes) { progress.add(bytes); });
  }
  print_result(arguments, sum, seconds_since(begin), sum_seconds);
}

}  // namespace

void add_sum(CLI::App& app, ExitCode& /*exit_code*/) {
  CLI::App* command =
      app.add_subcommand("sum", "Add the arrays of some .npy files, element by element");
  const auto arguments = std::make_shared<SumArguments>();
  command->add_option("FILES", arguments->inputs, "Arrays of one shape and one dtype")->required();
  command
      ->add_option("-o,--output", arguments->output,
                   "Where the sum goes; may be one of FILES. It is replaced only when all is done")
      ->required();
  command->add_flag(
      "--mean", arguments->mean,
      "Divide by the number of files. Integers give float32 (8 and 16 bit) or float64");
  command
      ->add_option("--accumulation", arguments->accumulation,
                   "wide: float16 is added in float32 and rounded once; native: rounded at each "
                   "step, as TensorFlow does; exact: the exact sum, rounded once, the same in any "
                   "order of FILES")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print an object, for scripts");
  command->footer("Example: fanin sum worker0.npy worker1.npy worker2.npy -o gradient.npy --mean");
  command->callback([arguments] { run_sum(*arguments); });
}

}  // namespace fanin::cli
