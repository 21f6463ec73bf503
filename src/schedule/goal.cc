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

bool is_one_of(Who who, const Schedule& schedule, int rank, int chunk) {
  // The chunks of owner 0 come first, then those of owner 1; within, likewise by receiver.
  const int for_each_owner = schedule.chunk_count / schedule.rank_count;
  switch (who) {
    case Who::kAll:
      return true;
    case Who::kRoot:
      return rank == schedule.root;
    case Who::kOwner:
      return rank == chunk / for_each_owner;
    case Who::kReceiver:
      return rank == chunk % for_each_owner / (for_each_owner / schedule.rank_count);
  }
  return false;
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

int part_count(Goal goal, int rank_count) {
  const GoalTraits& each = traits(goal);
  if (each.wants == Who::kReceiver) return rank_count * rank_count;
  return each.holds == Who::kOwner || each.wants == Who::kOwner ? rank_count : 1;
}

bool holds(const Schedule& schedule, int rank, int chunk) {
  return is_one_of(traits(schedule.goal).holds, schedule, rank, chunk);
}

bool wants(const Schedule& schedule, int rank, int chunk) {
  return is_one_of(traits(schedule.goal).wants, schedule, rank, chunk);
}

}  // namespace fanin
