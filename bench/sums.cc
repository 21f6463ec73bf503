// Times sums by Fanin and by the machine's limit, in turns. Reads lines "what terms bytes dtype
// seconds", the seconds for each of the two, and answers each with a line of JSON: seconds of one
// call.

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "against_limit.h"
#include "fanin/aggregate.h"
#include "fanin_accumulate.h"
#include "fanin_sum.h"
#include "ones.h"
#include "serve.h"
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
  if (what == "add_n") {
    const FaninSum fanin_sum(sum);
    return time_in_turns(sum, budget_seconds, [&] { fanin_sum.run(); });
  }
  if (what == "accumulate_n") return time_accumulate_n(sum, false, budget_seconds);
  if (what == "accumulate_n_list") return time_accumulate_n(sum, true, budget_seconds);
  throw std::invalid_argument(
      fmt::format("\"{}\" cannot be measured; use add_n, accumulate_n or accumulate_n_list", what));
}

void serve() {
  std::unique_ptr<Ones> buffers;
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
      buffers = std::make_unique<Ones>(parse_type(type), bytes, term_count, 1);
      held = wanted;
    }
    // Four parts: Fanin, two ways, and the choice of these.
    const Times times = time_what(what, buffers->sum(), 4 * budget_seconds);
    std::cout << to_json(times) << std::endl;
  }
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_sums", bench::serve); }
