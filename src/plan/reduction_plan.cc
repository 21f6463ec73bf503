#include "fanin/reduction_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/bytes_text.h"
#include "core/require.h"

namespace fanin {
namespace {

void check(const ReductionRequest& request) {
  check(request.op);
  check(request.topology);
  check(request.packing);
  require(!request.choices.empty(), ErrorKind::kBadSpec,
          "there is no algorithm to choose from; name one");
  for (const AllReduceSpec::Element& choice : request.choices)
    canonical_algorithm(choice.algorithm);
}

std::string why(const ReductionRequest& request, std::size_t choice) {
  const auto& choices = request.choices;
  if (choices.size() == 1) return "the only algorithm";
  if (choice + 1 == choices.size())
    return fmt::format("larger than {}",
                       bytes_text(static_cast<std::size_t>(choices[choice - 1].limit)));
  return fmt::format("at most {}", bytes_text(static_cast<std::size_t>(choices[choice].limit)));
}

/// Devices that can gather for the algorithm, in the order in which they are dealt: the CPUs of the
/// workers, or their devices, device by device.
std::vector<std::string> find_gatherers(const Topology& topology, std::string_view algorithm) {
  std::vector<std::string> gatherers;
  if (algorithm.find("pscpu") != std::string_view::npos)
    for (int worker = 0; worker < topology.worker_count; ++worker)
      gatherers.push_back(fmt::format("worker {} CPU", worker));
  else if (algorithm.find("psgpu") != std::string_view::npos)
    for (int device = 0; device < topology.devices_per_worker; ++device)
      for (int worker = 0; worker < topology.worker_count; ++worker)
        gatherers.push_back(fmt::format("worker {} device {}", worker, device));
  return gatherers;
}

/// What is known of the schedules that are used, each built once.
class KnownSchedules {
 public:
  explicit KnownSchedules(const Topology& topology) : topology_(topology) {}

  struct Known {
    std::string name;
    ScheduleCost cost;
    std::vector<std::string> gatherers;
  };
  const Known& of(const AllReduceSpec::Element& choice) {
    const auto key = std::pair(choice.algorithm, choice.shard_count);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const Schedule schedule = build_schedule(
        choice.algorithm, {.topology = topology_, .shard_count = choice.shard_count});
    return known_
        .emplace(key, Known{schedule.name, cost_of(schedule),
                            find_gatherers(topology_, choice.algorithm)})
        .first->second;
  }

 private:
  Topology topology_;
  std::map<std::pair<std::string, int>, Known> known_;
};

std::vector<std::string> find_warnings(const ReductionPlan& plan) {
  std::vector<std::string> warnings;
  const auto& choices = plan.request.choices;
  for (std::size_t choice = 0; choice < choices.size(); ++choice) {
    const auto takes = [&](const PlannedPack& each) {
      return !each.is_sparse && each.choice == choice;
    };
    if (!plan.packs.empty() && std::ranges::none_of(plan.packs, takes))
      warnings.push_back(fmt::format("{} takes nothing: no pack is {}", choices[choice].algorithm,
                                     why(plan.request, choice)));
    const auto shards = static_cast<std::size_t>(choices[choice].shard_count);
    const auto is_short = [&](const PlannedPack& each) {
      return takes(each) && each.pack.element_count() < shards;
    };
    if (const auto count = std::ranges::count_if(plan.packs, is_short); count > 0)
      warnings.push_back(fmt::format("{} of the packs by {} have fewer elements than its {} shards",
                                     count, choices[choice].algorithm, shards));
  }
  return warnings;
}

std::vector<std::string> find_notes(const ReductionRequest& request) {
  std::vector<std::string> notes;
  const auto uses = [&](std::string_view name) {
    return std::ranges::any_of(request.choices, [&](const AllReduceSpec::Element& choice) {
      return choice.algorithm.find(name) != std::string::npos;
    });
  };
  if (uses("nccl"))
    notes.emplace_back("nccl: there is no NCCL here; the native all-reduce \"direct\" is taken");
  if (request.topology.worker_count == 1 && uses("/"))
    notes.emplace_back("one worker: an algorithm of two levels has nothing to do across workers");
  return notes;
}

}  // namespace

ReductionPlan plan_reduction(ReductionRequest request) {
  check(request);
  ReductionPlan plan;
  KnownSchedules schedules(request.topology);
  std::size_t next_gatherer = 0;  // rotates from pack to pack
  for (Pack& pack : make_packs(request.tensors, request.packing)) {
    PlannedPack planned;
    planned.pack = std::move(pack);
    if (request.tensors[planned.pack.pieces.front().tensor].is_sparse) {
      planned.is_sparse = true;
      planned.algorithm = "gather";
      planned.reason = "sparse: the slices of all are joined, one after the other";
      planned.round_count = 1;
      plan.packs.push_back(std::move(planned));
      continue;
    }
    const std::size_t bytes = planned.pack.byte_count();
    planned.choice = AllReduceSpec::select(request.choices, bytes);
    const AllReduceSpec::Element& choice = request.choices[planned.choice];
    const KnownSchedules::Known& known = schedules.of(choice);
    planned.algorithm = known.name;
    planned.reason = why(request, planned.choice);
    planned.round_count = known.cost.round_count;
    const auto bytes_of = [&](std::int64_t chunks) {
      return static_cast<std::size_t>(known.cost.share(chunks) * static_cast<double>(bytes));
    };
    planned.most_sent_bytes = bytes_of(known.cost.most_sent);
    planned.most_received_bytes = bytes_of(known.cost.most_received);
    for (int shard = 0; shard < choice.shard_count && !known.gatherers.empty(); ++shard)
      planned.gathered_at.push_back(known.gatherers[next_gatherer++ % known.gatherers.size()]);
    plan.packs.push_back(std::move(planned));
  }
  plan.request = std::move(request);
  plan.warnings = find_warnings(plan);
  plan.notes = find_notes(plan.request);
  return plan;
}

}  // namespace fanin
