#include "schedule/values.h"

#include <algorithm>
#include <utility>

#include "core/add_n_order.h"
#include "schedule/goal.h"

namespace fanin {

Values::Values(int rank_count)
    : rank_count_(rank_count), sources_(static_cast<std::size_t>(rank_count)) {}

ValueId Values::fold(std::span<const ValueId> sources) {
  if (sources.size() == 1) return sources.front();
  std::vector<ValueId> flat;
  const std::span<const ValueId> inner = this->sources(sources.front());
  if (inner.empty())
    flat.push_back(sources.front());
  else
    flat.assign(inner.begin(), inner.end());
  flat.insert(flat.end(), sources.begin() + 1, sources.end());

  const auto [found, is_new] = ids_.try_emplace(flat, count());
  if (is_new) sources_.push_back(std::move(flat));
  return found->second;
}

ValueId Values::without_last(ValueId id) const {
  const std::span<const ValueId> all = sources(id);
  if (all.size() < 3) return kNoValue;
  const auto found = ids_.find({all.begin(), all.end() - 1});
  return found != ids_.end() && found->second < id ? found->second : kNoValue;
}

ValueId Values::add_n(std::span<const ValueId> sources) {
  const std::size_t lead = add_n_lead(sources.size());
  std::vector<ValueId> terms(sources.begin(), sources.begin() + static_cast<std::ptrdiff_t>(lead));
  for (std::size_t at = lead; at < sources.size(); at += kAddNGroup)
    terms.push_back(fold(sources.subspan(at, kAddNGroup)));
  return fold(terms);
}

StepIndex::StepIndex(const Schedule& schedule)
    : schedule_(schedule), entries_(static_cast<std::size_t>(schedule.chunk_count)) {
  for (std::size_t round = 0; round < schedule.rounds.size(); ++round)
    for (const Step& step : schedule.rounds[round])
      for (int chunk = step.chunks.first; chunk < step.chunks.last; ++chunk)
        entries_[static_cast<std::size_t>(chunk)].push_back({static_cast<int>(round), &step});
}

ChunkWalk walk(const StepIndex& steps, int chunk) {
  const Schedule& schedule = steps.schedule();
  ChunkWalk result{Values(schedule.rank_count), {}, {}};
  std::vector<ValueId> now(static_cast<std::size_t>(schedule.place_count()), kNoValue);
  for (int rank = 0; rank < schedule.rank_count; ++rank)
    if (holds(schedule, rank, chunk)) now[static_cast<std::size_t>(rank)] = rank;

  std::vector<ValueId> sources;
  const std::span<const StepIndex::Entry> entries = steps.of(chunk);
  for (std::size_t i = 0; i < entries.size();) {
    const std::size_t first = result.steps.size();
    const int round = entries[i].round;
    for (; i < entries.size() && entries[i].round == round; ++i) {
      const Step& step = *entries[i].step;
      sources.clear();
      for (const int place : step.sources) sources.push_back(now[static_cast<std::size_t>(place)]);
      const bool defined = std::ranges::find(sources, kNoValue) == sources.end();
      result.steps.push_back({round, &step, now[static_cast<std::size_t>(step.to)],
                              defined ? result.values.add_n(sources) : kNoValue});
    }
    // All steps of a round have read what was there before it; only now do they write.
    for (std::size_t made = first; made < result.steps.size(); ++made)
      now[static_cast<std::size_t>(result.steps[made].step->to)] = result.steps[made].result;
  }
  result.at_end = std::move(now);
  return result;
}

}  // namespace fanin
