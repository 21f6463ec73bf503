#include "mutants.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace fanin {
namespace {

int pick(int count, std::mt19937& random) {
  return std::uniform_int_distribution<int>(0, count - 1)(random);
}

/// What a cell holds: every addition written out, and how often each input is in it.
struct Cell {
  std::string expression;
  std::multiset<int> inputs;
};

std::string add(const std::string& left, const std::string& right) {
  return "(" + left + "+" + right + ")";
}

/// The sum of a step: left to right, and beyond 9 sources first the lead, then groups of 8.
std::string sum(const std::vector<std::string>& terms) {
  const std::size_t count = terms.size();
  std::size_t lead = count;
  if (count > 9) lead = count % 8 <= 1 ? count % 8 + 8 : count % 8;
  std::string total = terms[0];
  for (std::size_t i = 1; i < lead; ++i) total = add(total, terms[i]);
  for (std::size_t first = lead; first < count; first += 8) {
    std::string group = terms[first];
    for (std::size_t i = first + 1; i < first + 8; ++i) group = add(group, terms[i]);
    total = add(total, group);
  }
  return total;
}

std::multiset<int> inputs_of_goal(const Schedule& schedule, int chunk) {
  const int owner = chunk / std::max(1, schedule.chunk_count / schedule.rank_count);
  switch (schedule.goal) {
    case Goal::kBroadcast:
    case Goal::kScatter:
      return {*schedule.root};
    case Goal::kAllGather:
    case Goal::kGather:
    case Goal::kAllToAll:
      return {owner};
    default: {
      std::multiset<int> all;
      for (int rank = 0; rank < schedule.rank_count; ++rank) all.insert(rank);
      return all;
    }
  }
}

std::set<int> receivers_of_goal(const Schedule& schedule, int chunk) {
  const int of_owner = std::max(1, schedule.chunk_count / schedule.rank_count);
  switch (schedule.goal) {
    case Goal::kReduce:
    case Goal::kGather:
      return {*schedule.root};
    case Goal::kReduceScatter:
    case Goal::kScatter:
      return {chunk / of_owner};
    case Goal::kAllToAll:
      return {chunk % of_owner / (of_owner / schedule.rank_count)};
    default: {
      std::set<int> all;
      for (int rank = 0; rank < schedule.rank_count; ++rank) all.insert(rank);
      return all;
    }
  }
}

bool chunk_reaches_goal(const Schedule& schedule, int chunk) {
  std::map<int, Cell> cells;
  const std::multiset<int> wanted = inputs_of_goal(schedule, chunk);
  for (const int rank : wanted) cells[rank] = {std::to_string(rank), {rank}};
  for (const Round& round : schedule.rounds) {
    std::map<int, Cell> written;
    for (const Step& step : round) {
      if (chunk < step.chunks.first || chunk >= step.chunks.last) continue;
      Cell cell;
      std::vector<std::string> terms;
      for (const int source : step.sources) {
        const auto found = cells.find(source);
        if (found == cells.end()) return false;
        terms.push_back(found->second.expression);
        cell.inputs.insert(found->second.inputs.begin(), found->second.inputs.end());
      }
      cell.expression = sum(terms);
      if (!written.emplace(step.to, std::move(cell)).second) return false;
    }
    for (auto& [place, cell] : written) cells[place] = std::move(cell);
  }
  std::set<std::string> expressions;
  for (const int rank : receivers_of_goal(schedule, chunk)) {
    const auto found = cells.find(rank);
    if (found == cells.end() || found->second.inputs != wanted) return false;
    expressions.insert(found->second.expression);
  }
  return expressions.size() == 1;
}

}  // namespace

Mutant mutate(const Schedule& schedule, std::mt19937& random) {
  Mutant mutant{schedule, ""};
  auto& rounds = mutant.schedule.rounds;
  Round* round = nullptr;
  while (round == nullptr || round->empty())
    round = &rounds[static_cast<std::size_t>(pick(static_cast<int>(rounds.size()), random))];
  const int index = pick(static_cast<int>(round->size()), random);
  Step& step = (*round)[static_cast<std::size_t>(index)];
  const int source = pick(static_cast<int>(step.sources.size()), random);
  const int place = pick(schedule.place_count(), random);
  switch (pick(9, random)) {
    case 0:
      mutant.change = "drops a step";
      round->erase(round->begin() + index);
      break;
    case 1: {
      mutant.change = "doubles a step in a later round";
      const Step copy = step;
      rounds[static_cast<std::size_t>(pick(static_cast<int>(rounds.size()), random))].push_back(
          copy);
      break;
    }
    case 2:
      mutant.change = "redirects a step to another place";
      step.to = place;
      break;
    case 3:
      mutant.change = "redirects a source";
      step.sources[static_cast<std::size_t>(source)] = place;
      break;
    case 4:
      mutant.change = "shifts the chunks";
      if (step.chunks.last < schedule.chunk_count)
        step.chunks = {step.chunks.first + 1, step.chunks.last + 1};
      else if (step.chunks.first > 0)
        step.chunks = {step.chunks.first - 1, step.chunks.last - 1};
      else
        step.sources.push_back(place);
      break;
    case 5:
      mutant.change = "swaps two rounds";
      std::swap(rounds[static_cast<std::size_t>(pick(static_cast<int>(rounds.size()), random))],
                rounds[static_cast<std::size_t>(pick(static_cast<int>(rounds.size()), random))]);
      break;
    case 6:
      mutant.change = "swaps two sources";
      std::swap(step.sources.front(), step.sources.back());
      break;
    case 7:
      mutant.change = "adds a source";
      step.sources.push_back(place);
      break;
    default:
      mutant.change = "moves a step to another round";
      const Step moved = step;
      round->erase(round->begin() + index);
      rounds[static_cast<std::size_t>(pick(static_cast<int>(rounds.size()), random))].push_back(
          moved);
      break;
  }
  return mutant;
}

bool reaches_goal(const Schedule& schedule) {
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk)
    if (!chunk_reaches_goal(schedule, chunk)) return false;
  return true;
}

}  // namespace fanin
