#include "schedule/goal.h"

#include <fmt/format.h>

#include <array>

#include "fanin/error.h"

namespace fanin {
namespace {

/// Who, of a chunk's ranks.
enum class Who : std::uint8_t { kAll, kRoot, kOwner, kReceiver };

struct GoalTraits {
  Goal goal;
  std::string_view name;
  Who holds;
  Who wants;
};

constexpr std::array kGoals = {
    GoalTraits{Goal::kAllReduce, "all_reduce", Who::kAll, Who::kAll},
    GoalTraits{Goal::kReduce, "reduce", Who::kAll, Who::kRoot},
    GoalTraits{Goal::kBroadcast, "broadcast", Who::kRoot, Who::kAll},
    GoalTraits{Goal::kReduceScatter, "reduce_scatter", Who::kAll, Who::kOwner},
    GoalTraits{Goal::kAllGather, "all_gather", Who::kOwner, Who::kAll},
    GoalTraits{Goal::kGather, "gather", Who::kOwner, Who::kRoot},
    GoalTraits{Goal::kScatter, "scatter", Who::kRoot, Who::kOwner},
    GoalTraits{Goal::kAllToAll, "all_to_all", Who::kOwner, Who::kReceiver},
};

const GoalTraits& traits(Goal goal) { return kGoals[static_cast<std::size_t>(goal)]; }

/// The parts of which `rank` is one of these. Those of owner 0 come first, then those of owner 1;
/// within, likewise by receiver.
PartList parts_of(Who who, int part_count, int rank_count, int rank, std::optional<int> root) {
  const int for_each_owner = part_count / rank_count;
  switch (who) {
    case Who::kAll:
      return {.count = part_count};
    case Who::kRoot:
      return {.count = rank == root ? part_count : 0};
    case Who::kOwner:
      return {.first = rank * for_each_owner, .count = for_each_owner};
    case Who::kReceiver:
      return {.first = rank, .count = rank_count, .stride = for_each_owner};
  }
  return {};
}

bool is_one_of(Who who, const Schedule& schedule, int rank, int chunk) {
  if (who == Who::kAll) return true;
  const int parts = part_count(schedule.goal, schedule.rank_count);
  return parts_of(who, parts, schedule.rank_count, rank, schedule.root)
      .contains(chunk / (schedule.chunk_count / parts));
}

}  // namespace

std::span<const Goal> all_goals() {
  static constexpr std::array kAll = [] {
    std::array<Goal, kGoals.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kGoals[i].goal;
    return all;
  }();
  return kAll;
}

std::string_view name(Goal goal) { return traits(goal).name; }

std::string list_goals() {
  std::string list;
  for (const GoalTraits& each : kGoals) {
    list += list.empty() ? "" : ", ";
    list += each.name;
  }
  return list;
}

Goal parse_goal(std::string_view name) {
  for (const GoalTraits& each : kGoals)
    if (each.name == name) return each.goal;
  throw InvalidArgument(ErrorKind::kBadSchedule,
                        fmt::format("there is no goal \"{}\"; known are: {}", name, list_goals()));
}

bool has_root(Goal goal) {
  return traits(goal).holds == Who::kRoot || traits(goal).wants == Who::kRoot;
}

bool adds(Goal goal) { return traits(goal).holds == Who::kAll; }

bool has_parts(Goal goal) {
  return traits(goal).holds == Who::kOwner || traits(goal).wants == Who::kOwner;
}

int part_count(Goal goal, int rank_count) {
  if (traits(goal).wants == Who::kReceiver) return rank_count * rank_count;
  return has_parts(goal) ? rank_count : 1;
}

PartList held_parts(Goal goal, int rank_count, int rank, std::optional<int> root) {
  return parts_of(traits(goal).holds, part_count(goal, rank_count), rank_count, rank, root);
}

PartList wanted_parts(Goal goal, int rank_count, int rank, std::optional<int> root) {
  return parts_of(traits(goal).wants, part_count(goal, rank_count), rank_count, rank, root);
}

bool holds(const Schedule& schedule, int rank, int chunk) {
  return is_one_of(traits(schedule.goal).holds, schedule, rank, chunk);
}

bool wants(const Schedule& schedule, int rank, int chunk) {
  return is_one_of(traits(schedule.goal).wants, schedule, rank, chunk);
}

}  // namespace fanin
