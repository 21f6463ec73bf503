#include <fmt/core.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/compare/compare_trainings.h"
#include "cli/compare/comparison.h"
#include "cli/compare/gradient_set.h"
#include "cli/progress.h"
#include "cli/term_files.h"
#include "cli/units.h"
#include "core/require.h"
#include "files/whole_file.h"

namespace fanin::cli {
namespace {

struct CompareArguments {
  std::vector<std::string> files;
  std::string gradients;
  int terms = 8;
  std::string shape = "1048576";
  std::string dtype = "float32";
  std::string distribution = "normal";
  std::uint64_t seed = 1;
  std::optional<int> rounds;
  std::string memory;
  std::string html;
  bool json = false;
  bool train = false;
  CompareTrainingsArguments trainings;

  int round_count() const { return rounds.value_or(train ? trainings.rounds : 5); }
};

/// Options that mean something with --train only, and those that mean nothing with it.
struct OptionsOfOneKind {
  std::vector<Option> of_sums;
  std::vector<Option> of_trainings;

  void check(bool is_training) const {
    for (const Option& option : is_training ? of_sums : of_trainings)
      require(!option.is_given(), ErrorKind::kBadOption, "{} {}", option.name(),
              is_training
                  ? "is of sums, but a training makes its own terms; leave it out, or --train"
                  : "is of trainings; use it together with --train");
  }
};

/// What is to be summed, and the sentence that says so.
struct Subject {
  std::string what;
  std::vector<GradientTerms> gradients;
};

/// "1024x1024", "3", or "" for a scalar.
Shape parse_shape(std::string_view text) {
  std::vector<std::int64_t> dims;
  const auto fail = [&] {
    throw InvalidArgument(ErrorKind::kBadOption,
                          fmt::format("\"{}\" is not a shape; use extents such as 1024x512", text));
  };
  for (std::string_view rest = text; !rest.empty();) {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0) fail();
    dims.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.empty()) break;
    if ((rest.front() != 'x' && rest.front() != ',') || rest.size() == 1) fail();
    rest.remove_prefix(1);
  }
  return Shape(std::move(dims));
}

Subject read_subject(const CompareArguments& arguments) {
  const TermFiles files(arguments.files);
  Subject subject{
      .what = fmt::format("{} {} of {} files", files.entries().size(),
                          files.entries().size() == 1 ? "tensor" : "tensors", files.file_count()),
      .gradients = {}};
  Progress progress(files.byte_count(), !arguments.json);
  for (const TermEntry& entry : files.entries()) {
    GradientTerms gradient{.name = entry.name, .terms = {}};
    progress.start("reading " + entry.name);
    for (std::size_t file = 0; file < files.file_count(); ++file)
      gradient.terms.push_back(
          files.read(file, entry, [&](std::size_t bytes) { progress.add(bytes); }));
    subject.gradients.push_back(std::move(gradient));
  }
  return subject;
}

Subject make_subject(const CompareArguments& arguments) {
  const DType dtype = parse_dtype(arguments.dtype);
  const Distribution distribution = parse_distribution(arguments.distribution);
  std::vector<GradientShape> shapes = {{"tensor", parse_shape(arguments.shape)}};
  std::string what = fmt::format("tensor of shape {}", to_string(shapes[0].shape));
  if (!arguments.gradients.empty()) {
    shapes = model_gradients(arguments.gradients);
    what = fmt::format("{} gradients of {}", shapes.size(), arguments.gradients);
  }
  Subject subject{.what = fmt::format("{}, {}", what, arguments.distribution), .gradients = {}};
  std::size_t bytes = 0;
  for (const GradientShape& each : shapes)
    bytes +=
        each.shape.element_count() * size_of(dtype) * static_cast<std::size_t>(arguments.terms);
  Progress progress(bytes, !arguments.json);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    progress.start("making up " + shapes[i].name);
    subject.gradients.push_back(
        make_terms(shapes[i], arguments.terms, dtype, distribution, arguments.seed * 100'000 + i));
    for (const Tensor& term : subject.gradients.back().terms) progress.add(term.bytes().size());
  }
  return subject;
}

/// All gradients have one dtype: errors in ulps of different types do not compare.
DType common_dtype(const std::vector<GradientTerms>& gradients) {
  require(!gradients.empty(), ErrorKind::kEmpty, "there is no tensor to sum");
  const DType dtype = gradients.front().terms.front().dtype();
  for (const GradientTerms& gradient : gradients)
    require(gradient.terms.front().dtype() == dtype, ErrorKind::kDtypeMismatch,
            "{} is {} but {} is {}; one comparison is of one dtype", gradients.front().name,
            name(dtype), gradient.name, name(gradient.terms.front().dtype()));
  return dtype;
}

Comparison compare(const Subject& subject, const CompareArguments& arguments,
                   std::optional<std::size_t> budget) {
  const DType dtype = common_dtype(subject.gradients);
  Comparison comparison{.what = subject.what,
                        .gradient_count = subject.gradients.size(),
                        .term_count = subject.gradients.front().terms.size(),
                        .dtype = dtype,
                        .rounds = arguments.round_count(),
                        .measurements = {},
                        .recommendation = {}};
  for (const GradientTerms& gradient : subject.gradients)
    comparison.element_count += gradient.terms.front().element_count();
  const std::vector<Way> ways = ways_for(dtype);
  const std::size_t step_bytes = comparison.element_count * size_of(dtype) * comparison.term_count;
  Progress progress(step_bytes * ways.size() * static_cast<std::size_t>(comparison.rounds),
                    !arguments.json);
  progress.start("summing exactly");
  bool is_first = true;
  comparison.measurements =
      measure_ways(subject.gradients, ways, comparison.rounds, [&](const Way& way) {
        progress.add(is_first ? 0 : step_bytes);
        is_first = false;
        progress.start("summing by " + text_of(way));
      });
  comparison.recommendation = recommend(comparison.measurements, budget);
  return comparison;
}

void run_compare(const CompareArguments& arguments, const OptionsOfOneKind& options) {
  options.check(arguments.train);
  require(arguments.round_count() >= 1, ErrorKind::kBadOption,
          "--rounds {} is out of range; use 1 or more", arguments.round_count());
  if (arguments.train) {
    CompareTrainingsArguments trainings = arguments.trainings;
    trainings.training.seed = arguments.seed;
    trainings.rounds = arguments.round_count();
    trainings.html = arguments.html;
    trainings.json = arguments.json;
    compare_trainings(trainings);
    return;
  }
  require(arguments.files.empty() || arguments.gradients.empty(), ErrorKind::kBadOption,
          "compare either FILES or --gradients {}, not both", arguments.gradients);
  require(arguments.files.size() != 1, ErrorKind::kBadOption,
          "one file has nothing to be added to; name at least two");
  require(arguments.terms >= 1 && arguments.terms <= 100'000, ErrorKind::kBadOption,
          "--terms {} is out of range; use 1 to 100000", arguments.terms);
  const std::optional<std::size_t> budget =
      arguments.memory.empty() ? std::nullopt : std::optional(parse_bytes(arguments.memory));
  std::optional<WholeFile> page;  // a place that cannot be written to is told before the work
  if (!arguments.html.empty()) page.emplace(arguments.html);

  const Subject subject =
      arguments.files.empty() ? make_subject(arguments) : read_subject(arguments);
  const Comparison comparison = compare(subject, arguments, budget);
  if (page) {
    const std::string html = to_page(comparison);
    page->write(std::as_bytes(std::span(html)), 0);
    page->commit();
  }
  if (arguments.json)
    fmt::print("{}\n", to_json(comparison));
  else
    fmt::print("{}", to_text(comparison));
  if (page && !arguments.json) fmt::print("{}: the same with pictures\n", arguments.html);
}

}  // namespace

void add_compare(Command tool, ExitCode& /*exit_code*/) {
  Command command = tool.add_subcommand(
      "compare", "Sum the same terms in every way: time, memory, error, and which way to take");
  const auto arguments = std::make_shared<CompareArguments>();
  OptionsOfOneKind options;
  options.of_sums = {
      command.add_option("FILES", arguments->files,
                         "Terms to sum: .npy arrays of one shape, or .safetensors with the same "
                         "tensors. Without them, terms are made up"),
      command.add_option("--gradients", arguments->gradients,
                         "Make up the gradients of a model: resnet50 or bert-base"),
      command.add_option("--terms", arguments->terms, "Terms of each sum").with_default(),
      command.add_option("--shape", arguments->shape, "Of one term, such as 1024x512")
          .with_default(),
      command.add_option("--dtype", arguments->dtype, "Of the terms").with_default(),
      command
          .add_option("--distribution", arguments->distribution,
                      "normal: around 0; uniform: from 0 to 1; ill: large ones that cancel")
          .with_default(),
      command.add_option("--memory", arguments->memory,
                         "What a sum may hold at once, such as 500M: the advice keeps to it")};
  command
      .add_option("--seed", arguments->seed,
                  "Other made-up terms; with --train, other weights and batches")
      .with_default();
  command.add_option("--rounds", arguments->rounds,
                     "How often each way is timed, 5 unless told; with --train 3");
  command.add_option("--html", arguments->html, "Write a page with pictures");
  command.add_flag("--json", arguments->json, "Print an object, for scripts");
  command.add_flag("--train", arguments->train,
                   "Compare trainings instead: the same one as of fanin train, by each method and "
                   "several specs");
  options.of_trainings = add_compare_trainings_options(command, arguments->trainings);
  for (Option& option : options.of_trainings) option.in_group("With --train");
  command.footer(
      "Errors are against the exact sum, in ulps: steps from one number of the type to the next.\n"
      "Example: fanin compare --gradients resnet50 --terms 8 --html ways.html\n"
      "Example: fanin compare --train --workers 2 --specs nccl,xring --html trainings.html");
  command.callback([arguments, options] { run_compare(*arguments, options); });
}

}  // namespace fanin::cli
