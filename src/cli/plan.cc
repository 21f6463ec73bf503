#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/plan/gradient_list.h"
#include "cli/plan/plan_page.h"
#include "cli/units.h"
#include "fanin/reduction_plan.h"
#include "files/whole_file.h"

namespace fanin::cli {
namespace {

struct PlanArguments {
  int worker_count = 1;
  int gpu_count = 1;
  std::string spec = "pscpu/pscpu#2";
  std::string gradients = "resnet50";
  std::string dtype = "float32";
  std::string op = "sum";
  std::string bytes_per_pack = "0";
  std::string small_bytes = "0";
  int small_group = 10;
  int num_packs = 0;
  std::string html;
  bool as_json = false;
};

ReductionPlan make_plan(const PlanArguments& arguments) {
  const AllReduceSpec spec(arguments.spec);
  return plan_reduction(
      {.op = parse_reduce_op(arguments.op),
       .topology = {.worker_count = arguments.worker_count,
                    .devices_per_worker = arguments.gpu_count},
       .tensors = read_gradient_list(arguments.gradients, parse_dtype(arguments.dtype)),
       .packing = {.bytes_per_pack =
                       static_cast<std::int64_t>(parse_bytes(arguments.bytes_per_pack)),
                   .num_packs = arguments.num_packs,
                   .agg_small_grads_max_bytes =
                       static_cast<std::int64_t>(parse_bytes(arguments.small_bytes)),
                   .agg_small_grads_max_group = arguments.small_group},
       .choices = spec.elements()});
}

void run_plan(const PlanArguments& arguments) {
  const ReductionPlan plan = make_plan(arguments);
  if (!arguments.html.empty()) {
    const std::string html = to_page(plan, arguments.gradients, arguments.spec);
    WholeFile page(arguments.html);
    page.write(std::as_bytes(std::span(html)), 0);
    page.commit();
  }
  if (arguments.as_json) {
    fmt::print("{}\n", to_json(plan));
    return;
  }
  fmt::print("{}", to_text(plan));
  if (!arguments.html.empty()) fmt::print("{}: the same with pictures\n", arguments.html);
}

}  // namespace

void add_plan(Command tool, ExitCode& /*exit_code*/) {
  Command command = tool.add_subcommand(
      "plan", "Show which gradients travel together, by which algorithm, and why");
  const auto arguments = std::make_shared<PlanArguments>();
  command.add_option("--workers", arguments->worker_count, "Number of workers").with_default();
  command.add_option("--gpus", arguments->gpu_count, "Devices of each worker").with_default();
  command
      .add_option("--spec", arguments->spec,
                  "The all_reduce_spec: algorithm#shards:limit:next, of nccl, xring, rechd, pscpu, "
                  "psgpu and any a/b of them")
      .with_default();
  command
      .add_option("--gradients", arguments->gradients,
                  "resnet50, bert-base, a .safetensors file, or a .json file with a list of "
                  "objects that have name, dtype and shape")
      .with_default();
  command.add_option("--dtype", arguments->dtype, "Of the gradients of a model").with_default();
  command.add_option("--op", arguments->op, "sum, mean, min, max or prod").with_default();
  command
      .add_option("--bytes-per-pack", arguments->bytes_per_pack,
                  "A pack closes before it would exceed this, such as 50M; 0: not set")
      .with_default();
  command
      .add_option("--num-packs", arguments->num_packs,
                  "Cut all gradients of a dtype into so many packs; 0: not set")
      .with_default();
  command
      .add_option("--small-bytes", arguments->small_bytes,
                  "Pack neighbours of at most this many bytes each; 0: not set")
      .with_default();
  command.add_option("--small-group", arguments->small_group, "So many of them at most")
      .with_default();
  command.add_option("--html", arguments->html, "Write a page with pictures");
  command.add_flag("--json", arguments->as_json, "One JSON object for scripts");
  command.footer(
      "Example: fanin plan --workers 4 --gpus 2 --spec 'pscpu#2:32K:nccl/xring' --gradients "
      "resnet50");
  command.callback([arguments] { run_plan(*arguments); });
}

}  // namespace fanin::cli
