#include "schedule/reshape.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "schedule/goal.h"
#include "schedule/values.h"

namespace fanin {
namespace {

/// The steps of one chunk that something wanted depends on.
std::vector<bool> find_live(const StepIndex& steps, int chunk) {
  const Schedule& schedule = steps.schedule();
  const auto entries = steps.of(chunk);
  const ChunkWalk walked = walk(steps, chunk);
  const auto changes = [&](std::size_t step) {
    return walked.steps[step].result != walked.steps[step].before;
  };
  std::vector<bool> live_places(static_cast<std::size_t>(schedule.place_count()));
  for (int rank = 0; rank < schedule.rank_count; ++rank)
    live_places[static_cast<std::size_t>(rank)] = wants(schedule, rank, chunk);
  std::vector<bool> live(entries.size());
  for (std::size_t end = entries.size(); end > 0;) {
    std::size_t begin = end;
    for (; begin > 0 && entries[begin - 1].round == entries[end - 1].round; --begin)
      live[begin - 1] =
          changes(begin - 1) && live_places[static_cast<std::size_t>(entries[begin - 1].step->to)];
    // Before the round, what it wrote does not matter, and what it read does.
    for (std::size_t i = begin; i < end; ++i)
      if (live[i]) live_places[static_cast<std::size_t>(entries[i].step->to)] = false;
    for (std::size_t i = begin; i < end; ++i)
      if (live[i])
        for (const int source : entries[i].step->sources)
          live_places[static_cast<std::size_t>(source)] = true;
    end = begin;
  }
  return live;
}

/// A copy of the head, without rounds.
Schedule with_goal(const Schedule& schedule, Goal goal, int root) {
  Schedule result = schedule;
  result.goal = goal;
  result.root = has_root(goal) ? std::optional(root) : std::nullopt;
  return result;
}

/// One scatter for each sender, all at once.
Schedule scatter_from_all(const Schedule& all_reduce) {
  Schedule result;
  for (int sender = 0; sender < all_reduce.rank_count; ++sender) {
    const Schedule scatter = for_goal(all_reduce, Goal::kScatter, sender);
    if (sender == 0) {
      result = with_goal(scatter, Goal::kAllToAll, 0);
      result.chunk_count = scatter.chunk_count * scatter.rank_count;
      result.rounds.clear();
    }
    merge(result, 0, scatter, sender * scatter.chunk_count, std::identity());
  }
  return result;
}

}  // namespace

Schedule refine(Schedule schedule, int factor) {
  schedule.chunk_count *= factor;
  for (Round& round : schedule.rounds)
    for (Step& step : round) step.chunks = {step.chunks.first * factor, step.chunks.last * factor};
  return schedule;
}

Schedule prune(const Schedule& schedule) {
  const StepIndex steps(schedule);
  std::unordered_map<const Step*, std::vector<int>> live_chunks;  // ascending
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    const std::vector<bool> live = find_live(steps, chunk);
    const auto entries = steps.of(chunk);
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (live[i]) live_chunks[entries[i].step].push_back(chunk);
  }

  Schedule result = schedule;
  result.rounds.clear();
  for (const Round& round : schedule.rounds) {
    Round kept;
    for (const Step& step : round) {
      int last = -1;  // one after the chunk before, which it continues
      for (const int chunk : live_chunks[&step]) {
        if (chunk == last)
          ++kept.back().chunks.last;
        else
          kept.push_back({step.to, {chunk, chunk + 1}, step.sources});
        last = chunk + 1;
      }
    }
    if (!kept.empty()) result.rounds.push_back(std::move(kept));
  }
  return result;
}

Schedule reverse(const Schedule& schedule) {
  Schedule result = schedule;
  std::ranges::reverse(result.rounds);
  for (Round& round : result.rounds) {
    Round back;
    for (const Step& step : round)
      for (const int source : step.sources)
        if (source != step.to) back.push_back({source, step.chunks, {step.to}});
    round = std::move(back);
  }
  return result;
}

void merge(Schedule& into, std::size_t first_round, const Schedule& schedule, int first_chunk,
           const std::function<int(int)>& rename) {
  into.rounds.resize(std::max(into.rounds.size(), first_round + schedule.rounds.size()));
  for (std::size_t i = 0; i < schedule.rounds.size(); ++i) {
    Round& round = into.rounds[first_round + i];
    for (Step step : schedule.rounds[i]) {
      step.to = rename(step.to);
      for (int& source : step.sources) source = rename(source);
      step.chunks = {step.chunks.first + first_chunk, step.chunks.last + first_chunk};
      round.push_back(std::move(step));
    }
  }
}

Schedule for_goal(Schedule all_reduce, Goal goal, int root) {
  const int rank_count = all_reduce.rank_count;
  const auto in_parts = [&] {
    return refine(all_reduce,
                  std::lcm(all_reduce.chunk_count, rank_count) / all_reduce.chunk_count);
  };
  switch (goal) {
    case Goal::kAllReduce:
      return all_reduce;
    case Goal::kReduce:
      return prune(with_goal(all_reduce, goal, root));
    case Goal::kBroadcast:
      return prune(with_goal(reverse(for_goal(all_reduce, Goal::kReduce, root)), goal, root));
    case Goal::kReduceScatter:
      return prune(with_goal(in_parts(), goal, root));
    case Goal::kAllGather:
      return prune(
          with_goal(reverse(for_goal(all_reduce, Goal::kReduceScatter, root)), goal, root));
    case Goal::kGather:
      return prune(with_goal(for_goal(all_reduce, Goal::kAllGather, root), goal, root));
    case Goal::kScatter:
      return prune(with_goal(reverse(for_goal(all_reduce, Goal::kGather, root)), goal, root));
    case Goal::kAllToAll:
      return scatter_from_all(all_reduce);
  }
  return all_reduce;
}

}  // namespace fanin
