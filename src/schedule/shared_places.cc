#include "schedule/shared_places.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace fanin {
namespace {

/// Calls visit(rank, operation), level by level: who makes a value comes before those who read it.
template <typename Visit>
void for_each_operation(const WindowProgram& program, Visit&& visit) {
  for (std::size_t level = 0; level < static_cast<std::size_t>(program.level_count); ++level)
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
      for (const WindowLevel::Task& task : program.ranks[rank][level].tasks)
        visit(static_cast<int>(rank), task.operation);
}

void add_reader(WindowProgram& program, int owner, int reader) {
  if (owner == reader) return;
  auto& readers = program.readers[static_cast<std::size_t>(owner)];
  const auto at = std::ranges::lower_bound(readers, reader);
  if (at == readers.end() || *at != reader) readers.insert(at, reader);
}

}  // namespace

void share_places(WindowProgram& program) {
  std::map<Ref, std::vector<int>> readers;  // of each slot, once for each time that it is read
  for_each_operation(program, [&](int rank, const Operation& operation) {
    for (const Ref& source : operation.sources)
      if (source.kind == Ref::Kind::kSlot) readers[source].push_back(rank);
  });

  const auto place_of = [&](const Ref& slot) -> Ref& {
    return program
        .places[static_cast<std::size_t>(slot.rank)][static_cast<std::size_t>(slot.index)];
  };
  const int rank_count = static_cast<int>(program.ranks.size());
  for_each_operation(program, [&](int rank, const Operation& operation) {
    // Each rank prefers the memory of the next one, so that none has more than the others.
    const auto distance = [&](const Ref& slot) {
      return std::tuple((slot.rank - rank + rank_count) % rank_count, slot.index);
    };
    std::vector<Ref> free;
    for (const Ref& source : operation.sources)
      if (source.kind == Ref::Kind::kSlot && source.rank != rank && readers[source].size() == 1)
        free.push_back(source);
    std::ranges::sort(free, std::greater(), distance);
    for (const Ref& target : operation.targets) {
      if (target.kind != Ref::Kind::kSlot || free.empty()) continue;
      const Ref place = place_of(free.back());
      free.pop_back();
      place_of(target) = place;
      for (const int reader : readers[target]) add_reader(program, place.rank, reader);
    }
  });
}

}  // namespace fanin
