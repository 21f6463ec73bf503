// Times sums by Fanin and by the machine's limit, in turns. Reads lines "what terms bytes dtype
// seconds", the seconds for each of the two, and answers each with a line of JSON: seconds of one
// call.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "fanin/aggregate.h"
#include "fanin_accumulate.h"
#include "fanin_sum.h"
#include "memory.h"
#include "timing.h"

namespace bench {
namespace {

Type parse_type(const std::string& name) {
  if (name == "float32") return Type::kFloat32;
  if (name == "float64") return Type::kFloat64;
  if (name == "float16") return Type::kFloat16;
  if (name == "bfloat16") return Type::kBFloat16;
  throw std::invalid_argument(fmt::format("no benchmark of sums has the dtype \"{}\"", name));
}

/// Eight bytes of ones, whatever the type.
std::uint64_t ones(Type type) {
  switch (type) {
    case Type::kFloat32:
      return 0x3f8000003f800000U;
    case Type::kFloat64:
      return 0x3ff0000000000000U;
    case Type::kFloat16:
      return 0x3c003c003c003c00U;
    default:
      return 0x3f803f803f803f80U;
  }
}

/// The buffers of one case: all ones, which every type can add.
class Buffers {
 public:
  Buffers(std::size_t term_count, std::size_t bytes, Type type) {
    const std::uint64_t pattern = ones(type);
    sum_ = {.type = type, .sources = {}, .target = nullptr, .bytes = bytes};
    for (std::size_t term = 0; term <= term_count; ++term) {
      memory_.push_back(std::make_unique<Mapping>(bytes, term % 16 * 4160));
      std::byte* const data = memory_.back()->data();
      for (std::size_t at = 0; at < bytes; at += sizeof pattern)
        std::memcpy(data + at, &pattern, sizeof pattern);
      if (term == 0)
        sum_.target = data;
      else
        sum_.sources.push_back(data);
    }
  }
  const Sum& sum() const { return sum_; }

 private:
  std::vector<std::unique_ptr<Mapping>> memory_;
  Sum sum_;
};

struct Times {
  double fanin;
  double limit;
  std::string way;
};

/// The two ways that look best, to be timed with care.
std::vector<Way> best_ways(const Sum& sum, double budget_seconds) {
  const TwoThreads second;
  std::vector<std::pair<double, Way>> timed;
  for (const Way& way : ways())
    timed.emplace_back(time_call(budget_seconds / 8, [&] { way.run(sum); }), way);
  std::ranges::sort(timed, {}, [](const auto& entry) { return entry.first; });
  return {timed[0].second, timed[1].second};
}

/// Fanin and the limit take turns of a few calls, so that both meet the same neighbours.
Times time_in_turns(const Sum& sum, double budget_seconds) {
  constexpr int kTurns = 8;
  const std::vector<Way> candidates = best_ways(sum, budget_seconds / 4);
  FaninSum fanin_sum(sum);
  std::vector<double> fanin_times;
  std::vector<std::vector<double>> way_times(candidates.size());
  const double slice = budget_seconds / kTurns / 4;
  for (int turn = 0; turn < kTurns; ++turn) {
    fanin_times.push_back(time_call(slice, [&] { fanin_sum.run(); }));
    const TwoThreads second;  // not while Fanin's threads want the cores
    for (std::size_t i = 0; i < candidates.size(); ++i)
      way_times[i].push_back(time_call(slice, [&] { candidates[i].run(sum); }));
  }
  const double first = median(way_times[0]);
  const double other = median(way_times[1]);
  return {median(fanin_times), std::min(first, other), candidates[first <= other ? 0 : 1].name};
}

/// ACCUMULATE_N, of which ADD_N is the limit: by two threads as terms arrive, or of a whole list,
/// whose terms all wait and are combined in one pass.
Times time_accumulate_n(const Sum& sum, bool is_list, double budget_seconds) {
  constexpr int kTurns = 8;
  const FaninSum add_n(sum);
  const double slice = budget_seconds / kTurns / 4;
  std::vector<double> add_n_times;
  std::vector<double> times;
  for (int turn = 0; turn < kTurns; ++turn) {
    add_n_times.push_back(time_call(slice, [&] { add_n.run(); }));
    if (is_list) {
      times.push_back(time_call(slice, [&] { fanin::accumulate_n(add_n.terms()); }));
    } else {
      FaninAccumulate accumulate(add_n);  // its second thread may not spin while ADD_N is timed
      times.push_back(time_call(slice, [&] { accumulate.run(); }));
    }
  }
  return {median(times), median(add_n_times), "ADD_N"};
}

Times time_what(const std::string& what, const Sum& sum, double budget_seconds) {
  if (what == "add_n") return time_in_turns(sum, budget_seconds);
  if (what == "accumulate_n") return time_accumulate_n(sum, false, budget_seconds);
  if (what == "accumulate_n_list") return time_accumulate_n(sum, true, budget_seconds);
  throw std::invalid_argument(
      fmt::format("\"{}\" cannot be measured; use add_n, accumulate_n or accumulate_n_list", what));
}

void serve() {
  std::unique_ptr<Buffers> buffers;
  std::string held;
  std::string what;
  std::size_t term_count = 0;
  std::size_t bytes = 0;
  std::string type;
  double budget_seconds = 0;
  while (std::cin >> what >> term_count >> bytes >> type >> budget_seconds) {
    const std::string wanted = fmt::format("{} {} {}", term_count, bytes, type);
    if (wanted != held) {
      buffers.reset();
      buffers = std::make_unique<Buffers>(term_count, bytes, parse_type(type));
      held = wanted;
    }
    // Four parts: Fanin, two ways, and the choice of these.
    const Times times = time_what(what, buffers->sum(), 4 * budget_seconds);
    std::cout << nlohmann::json{{"fanin", times.fanin}, {"limit", times.limit}, {"way", times.way}}
              << std::endl;
  }
}

}  // namespace
}  // namespace bench

int main() {
  try {
    bench::serve();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_sums: " << error.what() << '\n';
    return 1;
  }
}
