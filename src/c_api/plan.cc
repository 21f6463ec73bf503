// All-reduces of the same buffers: what they have in common is checked and explained once. What
// each run replays, the group keeps bound.

#include <algorithm>
#include <numeric>
#include <span>

#include "c_api/collective.h"
#include "c_api/options.h"
#include "distribute/across_workers.h"
#include "distribute/arguments.h"
#include "distribute/host_levels.h"
#include "fanin/reduction_plan.h"
#include "kernels/arithmetic.h"

namespace {

using fanin::AllReduceOptions;
using fanin::DType;
using fanin::ErrorKind;
using fanin::Group;
using fanin::ReductionPlan;
using fanin::Tensor;
using fanin::TensorView;
using fanin::c_api::guarded;
using fanin::c_api::required;

std::string explain(const Group& ranks, std::span<const std::size_t> counts, DType dtype,
                    const AllReduceOptions& options) {
  const fanin::Whereabouts where{ranks.hosts(), ranks.cores()};
  const bool is_auto = options.algorithm == fanin::kAutomatic;
  const std::size_t bytes =
      std::accumulate(counts.begin(), counts.end(), std::size_t{0}) * size_of(dtype);
  const std::string algorithm =
      is_auto ? fanin::choose_algorithm(where, fanin::Goal::kAllReduce, bytes) : options.algorithm;
  fanin::ReductionRequest request{
      .op = options.op,
      .topology = fanin::topology_for(algorithm, fanin::levels_for(algorithm, where)),
      .packing = {.num_packs = 1},
      .choices = {{.algorithm = algorithm}}};
  for (std::size_t i = 0; i < counts.size(); ++i)
    request.tensors.push_back({.name = fmt::format("buffer {}", i),
                               .dtype = dtype,
                               .shape = {static_cast<std::int64_t>(counts[i])}});
  ReductionPlan plan = fanin::plan_reduction(std::move(request));
  if (is_auto)
    plan.notes.push_back(fmt::format(
        "auto is {} for {} ranks of which {} are on this host", algorithm, ranks.size(),
        std::ranges::count(where.hosts, where.hosts[static_cast<std::size_t>(ranks.rank())])));
  plan.notes.push_back(fanin::describe_travel(ranks));
  return to_text(plan);
}

/// The buffers of one run.
struct Run {
  std::vector<Tensor> inputs;
  std::vector<TensorView> outputs;
  AllReduceOptions options;
};

Run to_run(const fanin_plan& plan, const void* const* inputs, void* const* outputs,
           const fanin_call_options* options) {
  Run run{.inputs = {}, .outputs = {}, .options = plan.options};
  const fanin::MoveOptions how = fanin::c_api::to_meeting_options(options, "a run of a plan");
  run.options.step = how.step;
  if (how.timeout) run.options.timeout = how.timeout;
  required(inputs, "the list of inputs");
  required(outputs, "the list of outputs");
  const DType result = fanin::result_dtype(plan.options.op, plan.dtype);
  for (std::size_t i = 0; i < plan.counts.size(); ++i) {
    run.inputs.push_back(fanin::c_api::to_input(inputs[i], plan.counts[i], plan.dtype,
                                                fmt::format("input {} of the plan", i)));
    run.outputs.push_back(fanin::c_api::to_output(outputs[i], plan.counts[i], result,
                                                  fmt::format("output {} of the plan", i)));
  }
  return run;
}

}  // namespace

int32_t fanin_plan_all_reduce(fanin_group* group, size_t buffer_count, const size_t* counts,
                              int32_t dtype, const fanin_call_options* options, fanin_plan** plan) {
  return guarded([&] {
    required(plan, "the place for the plan") = nullptr;
    const Group& ranks = required(group, "the group").ranks;
    fanin::require(buffer_count > 0, ErrorKind::kEmpty, "a plan needs at least one buffer");
    const std::span<const size_t> some(&required(counts, "the list of counts"), buffer_count);
    const DType type = fanin::c_api::to_dtype(dtype);
    for (const size_t count : some) fanin::c_api::check_count(count, type, "a buffer of the plan");
    const AllReduceOptions how =
        fanin::c_api::to_reduce_options(options, "all_reduce", ranks.size());
    fanin::check_options(fanin::Request::Operation::kAllReduce, how);
    fanin::require(how.extents.empty(), ErrorKind::kBadOption,
                   "fanin_call_options.extents is set, but a plan has no parts; leave it NULL");
    fanin::require(!how.step, ErrorKind::kBadOption,
                   "fanin_call_options.step is set, but each run of a plan has its own; give it to "
                   "fanin_plan_run()");
    *plan = new fanin_plan{.group = group,
                           .counts = {some.begin(), some.end()},
                           .dtype = type,
                           .options = how,
                           .text = explain(ranks, some, type, how)};
  });
}

int32_t fanin_plan_run(fanin_plan* plan, const void* const* inputs, void* const* outputs,
                       const fanin_call_options* options, fanin_handle** handle) {
  fanin_group* group = nullptr;
  const std::int32_t found = guarded([&] { group = required(plan, "the plan").group; });
  if (found != FANIN_OK) return found;
  return fanin::c_api::call_or_start(
      group, handle, [&](Group&) { return to_run(*plan, inputs, outputs, options); },
      [](Group& ranks, const Run& run) { ranks.all_reduce(run.inputs, run.outputs, run.options); },
      [](Group& ranks, const Run& run) {
        return ranks.start_all_reduce(run.inputs, run.outputs, run.options);
      });
}

int32_t fanin_plan_explain(const fanin_plan* plan, const char** text) {
  return guarded([&] {
    required(text, "the place for the text") = nullptr;
    *text = required(plan, "the plan").text.c_str();
  });
}

void fanin_plan_free(fanin_plan* plan) { delete plan; }
