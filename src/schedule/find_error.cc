// The proof of a schedule, by its values: no byte moves.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fanin/schedule.h"
#include "schedule/goal.h"
#include "schedule/values.h"

namespace fanin {
namespace {

using Sentence = std::optional<std::string>;

std::string place_name(const Schedule& schedule, int place) {
  return place < schedule.rank_count ? fmt::format("rank {}", place)
                                     : fmt::format("helper {}", place - schedule.rank_count);
}

/// Numbers that mean nothing: the rest of the proof relies on their being in range.
Sentence find_malformed(const Schedule& schedule) {
  if (schedule.name.empty() || schedule.name.find_first_of(" \t\n\r") != std::string::npos)
    return "the name of a schedule is one word";
  if (schedule.rank_count < 1)
    return fmt::format("has {} ranks; at least 1 is needed", schedule.rank_count);
  if (schedule.helper_count < 0) return fmt::format("has {} helpers", schedule.helper_count);
  if (schedule.chunk_count < 1)
    return fmt::format("has {} chunks; at least 1 is needed", schedule.chunk_count);
  if (!has_root(schedule.goal) && schedule.root)
    return fmt::format("has root {}, but the goal {} has no root", *schedule.root,
                       name(schedule.goal));
  if (has_root(schedule.goal) &&
      (!schedule.root || *schedule.root < 0 || *schedule.root >= schedule.rank_count))
    return fmt::format("the goal {} needs a root from 0 to {}", name(schedule.goal),
                       schedule.rank_count - 1);
  if (const int parts = part_count(schedule.goal, schedule.rank_count);
      schedule.chunk_count % parts != 0)
    return fmt::format("has {} chunks; the goal {} of {} ranks needs a multiple of {}",
                       schedule.chunk_count, name(schedule.goal), schedule.rank_count, parts);

  const auto is_place = [&](int place) { return place >= 0 && place < schedule.place_count(); };
  for (std::size_t round = 0; round < schedule.rounds.size(); ++round) {
    for (const Step& step : schedule.rounds[round]) {
      const auto at = [&] { return fmt::format("round {}, place {}", round, step.to); };
      if (!is_place(step.to))
        return fmt::format("{}: there is no such place; the last one is {}", at(),
                           schedule.place_count() - 1);
      const Chunks& chunks = step.chunks;
      if (chunks.first < 0 || chunks.first >= chunks.last || chunks.last > schedule.chunk_count)
        return fmt::format("{}: [{},{}) is not a range of the {} chunks", at(), chunks.first,
                           chunks.last, schedule.chunk_count);
      if (step.sources.empty()) return fmt::format("{}: the step has no source", at());
      for (const int source : step.sources)
        if (!is_place(source))
          return fmt::format("{}: source {} is no place; the last one is {}", at(), source,
                             schedule.place_count() - 1);
    }
  }
  return std::nullopt;
}

/// Reads before anything was there, and cells that two steps of a round write.
Sentence find_bad_step(const Schedule& schedule, int chunk, const ChunkWalk& walked) {
  std::set<std::pair<int, int>> written;  // (round, place)
  for (const StepValue& step : walked.steps) {
    const std::string to = place_name(schedule, step.step->to);
    if (step.result == kNoValue)
      return fmt::format("round {}, chunk {}: {} reads a place that holds nothing yet", step.round,
                         chunk, to);
    if (!written.insert({step.round, step.step->to}).second)
      return fmt::format("round {}, chunk {}: two steps write {}", step.round, chunk, to);
  }
  return std::nullopt;
}

/// How often a value has each value in it, inputs among them. Only what the ranks end with is
/// counted: all values with all their inputs would take far longer than the rest of the proof.
/// Counts end at a million: sums of sums can double them in every round.
std::vector<int> count_parts(const Values& values, ValueId whole) {
  std::vector<int> counts(static_cast<std::size_t>(values.count()));
  counts[static_cast<std::size_t>(whole)] = 1;
  // A fold has a larger id than its sources, so it is counted before they are.
  for (ValueId id = whole; id >= 0; --id)
    if (const int count = counts[static_cast<std::size_t>(id)]; count > 0)
      for (const ValueId source : values.sources(id))
        counts[static_cast<std::size_t>(source)] =
            std::min(counts[static_cast<std::size_t>(source)] + count, 1'000'000);
  return counts;
}

/// What the ranks end with, against what the goal wants.
Sentence find_unmet_goal(const Schedule& schedule, int chunk, const ChunkWalk& walked) {
  std::optional<int> first;  // the first rank that wants something
  for (int rank = 0; rank < schedule.rank_count; ++rank) {
    if (!wants(schedule, rank, chunk)) continue;
    const ValueId held = walked.at_end[static_cast<std::size_t>(rank)];
    if (held == kNoValue) return fmt::format("rank {} ends with nothing in chunk {}", rank, chunk);
    if (first && held == walked.at_end[static_cast<std::size_t>(*first)]) continue;
    const std::vector<int> counts = count_parts(walked.values, held);
    for (int input = 0; input < schedule.rank_count; ++input) {
      const int wanted = holds(schedule, input, chunk) ? 1 : 0;
      const int found = counts[static_cast<std::size_t>(input)];
      if (found != wanted)
        return fmt::format("rank {} ends with the input of rank {} {} times in chunk {}, not {}",
                           rank, input, found, chunk, wanted == 1 ? "once" : "never");
    }
    if (first)
      return fmt::format(
          "ranks {} and {} sum chunk {} in different orders, so their bits may differ", *first,
          rank, chunk);
    first = rank;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_error(const Schedule& schedule) {
  const auto with_name = [&](const std::string& sentence) {
    return fmt::format("{}: {}", schedule.name, sentence);
  };
  if (const Sentence error = find_malformed(schedule)) return with_name(*error);
  const StepIndex steps(schedule);
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    const ChunkWalk walked = walk(steps, chunk);
    if (const Sentence error = find_bad_step(schedule, chunk, walked)) return with_name(*error);
    if (const Sentence error = find_unmet_goal(schedule, chunk, walked)) return with_name(*error);
  }
  return std::nullopt;
}

}  // namespace fanin
