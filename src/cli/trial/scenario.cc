#include "cli/trial/scenario.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <thread>

#include "cli/trial/rank_run.h"
#include "core/thread_pool.h"
#include "distribute/private_folder.h"
#include "fanin/error.h"
#include "transports/shared_memory.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

// Each way in which data goes: in the first message, in a slot, by windows in one block and
// several, or directly.
constexpr std::size_t kCounts[] = {5, 300, 30'000, 200'000};
constexpr int kCalls = 8;

constexpr double kSlackSeconds = 1;
constexpr double kNoticeSeconds = 0.1;

int count_files(const std::filesystem::path& folder) {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// Calls until all ranks have come together again, after a failure.
bool meet_again(Group& group, json& calls) {
  for (int attempt = 0; attempt < 12; ++attempt) {
    const json call = timed_call([&] { group.barrier(); });
    if (call.at("code") == "") return true;
    calls.push_back(call);
  }
  return false;
}

/// What a rank sums in: its own memory for each call, or registered memory that it keeps.
class Numbers {
 public:
  Numbers(Group& group, bool is_registered) {
    if (!is_registered) return;
    buffer_ = group.allocate(std::ranges::max(kCounts) * sizeof(float));
    memory_ = {reinterpret_cast<float*>(buffer_.bytes().data()), std::ranges::max(kCounts)};
  }

  std::span<float> memory() const { return memory_; }

  /// After a failure the memory is its owner's: what others still write must not be seen in it.
  void mark() { std::ranges::fill(memory_, kMark); }
  bool is_marked() const {
    return std::ranges::all_of(memory_, [](float each) { return each == kMark; });
  }

 private:
  static constexpr float kMark = 1e9F;
  Buffer buffer_;
  std::span<float> memory_;
};

json work_as_rank(const Scenario& scenario, int rank, const std::string& path) {
  const std::chrono::duration<double> timeout(scenario.timeout_seconds);
  std::unique_ptr<Transport> transport = join_shared_memory(
      path, rank, scenario.size, kDefaultWindowBytes, deadline_after(std::chrono::seconds(20)));
  if (rank == scenario.culprit) transport = make_hostile(std::move(transport), scenario.plan);
  std::optional<Group> group(std::in_place, std::move(transport), timeout);
  Numbers numbers(*group, scenario.is_registered);
  int wrong = 0;
  json calls = json::array();
  const auto sum = [&](std::size_t count, std::optional<std::int64_t> step) {
    if (!sums_right(*group, count, {.algorithm = scenario.algorithm, .step = step},
                    numbers.memory()))
      ++wrong;
  };
  for (int i = 0; i < kCalls; ++i) {
    const json call = timed_call([&] { sum(kCounts[i % 4], i); });
    calls.push_back(call);
    if (call.at("code") != "") break;
  }
  // The next call gives the error to all. After a death, which may also come now, the survivors go
  // on without the dead.
  bool is_together = false;
  for (int deaths = 0; !is_together && deaths < 2; ++deaths) {
    numbers.mark();
    const json again = timed_call([&] {
      if (scenario.plan.mischief == Mischief::kDie)
        group->barrier();
      else if (!meet_again(*group, calls))
        return;
      if (!numbers.is_marked()) ++wrong;
      for (const std::size_t count : kCounts) sum(count, std::nullopt);
      is_together = true;
    });
    if (again.at("code") == "") continue;
    calls.push_back(again);
    if (scenario.plan.mischief != Mischief::kDie) continue;
    Group rest = group->shrink();
    group = std::move(rest);
  }
  return {{"calls", calls}, {"wrong", wrong}, {"together", is_together}};
}

/// Adds the report of a rank that had no mischief.
void judge(const Scenario& scenario, int rank, const json& report, Figures& figures) {
  const auto complain = [&](const std::string& what) {
    figures.complaints.push_back(fmt::format("{}: rank {} {}", describe(scenario), rank, what));
  };
  if (!report.contains("calls")) {
    ++figures.stuck;
    complain(report.dump());
    return;
  }
  figures.wrong += report.at("wrong").get<int>();
  if (report.at("wrong") != 0) complain("had a wrong answer");
  if (!report.at("together").get<bool>()) {
    ++figures.stuck;
    complain("did not come together again with the others");
  }
  for (const json& call : report.at("calls")) {
    ++figures.calls;
    const bool is_in_time =
        call.at("seconds").get<double>() <= scenario.timeout_seconds + kSlackSeconds;
    figures.in_time += is_in_time ? 1 : 0;
    if (!is_in_time) complain(fmt::format("took {} s for a call", call.at("seconds").dump()));
    if (call.at("code") == "") continue;
    ++figures.errors;
    const auto sentence = call.at("sentence").get<std::string>();
    const bool is_named =
        sentence.find(fmt::format("rank {}", scenario.culprit)) != std::string::npos;
    figures.named += is_named ? 1 : 0;
    if (!is_named) complain("was told: " + sentence);
  }
}

}  // namespace

std::string describe(const Scenario& scenario) {
  return fmt::format("{} at step {} of rank {} of {}, by {}{}", name(scenario.plan.mischief),
                     scenario.plan.step, scenario.culprit, scenario.size, scenario.algorithm,
                     scenario.is_registered ? " in registered memory" : "");
}

bool sums_right(Group& group, std::size_t count, const AllReduceOptions& options,
                std::span<float> memory) {
  const auto number = [](int rank, std::size_t i) {
    return static_cast<float>((static_cast<std::size_t>(rank) * 31 + i) % 251);
  };
  std::vector<float> own(memory.empty() ? count : 0);
  const std::span<float> numbers = memory.empty() ? std::span(own) : memory.first(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = number(group.rank(), i);
  const Shape shape{static_cast<std::int64_t>(count)};
  group.all_reduce(Tensor::view(std::span<const float>(numbers), shape),
                   TensorView::over(numbers, shape), options);
  for (std::size_t i = 0; i < count; ++i) {
    float wanted = 0;
    for (int rank = 0; rank < group.size(); ++rank) wanted += number(rank, i);
    if (numbers[i] != wanted) return false;
  }
  return true;
}

json timed_call(const std::function<void()>& call) {
  const double start = steady_seconds();
  std::string code;
  std::string sentence;
  try {
    call();
  } catch (const Error& error) {
    code = name(error.code());
    sentence = error.what();
  }
  const double end = steady_seconds();
  return {{"seconds", end - start}, {"code", code}, {"sentence", sentence}, {"end", end}};
}

std::vector<json> run_ranks(int size, const RankWork& work, double limit_seconds, Figures& figures,
                            const std::function<void(std::vector<RankRun>&)>& on_poll) {
  const TemporaryFolder folder;
  std::vector<RankRun> runs;
  runs.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    runs.emplace_back([&, rank] { return work(rank, folder.path() / "socket"); });
  const double start = steady_seconds();
  const auto count_ended = [&] {
    int count = 0;
    for (RankRun& run : runs) count += run.poll() ? 1 : 0;
    return count;
  };
  while (count_ended() < size && steady_seconds() - start < limit_seconds) {
    if (on_poll) on_poll(runs);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::vector<json> reports;
  for (RankRun& run : runs) {
    reports.push_back(run.poll() ? run.report() : json{{"stuck", true}});
    reports.back()["end"] = run.end_seconds();
  }
  runs.clear();
  figures.left += count_files(folder.path());
  ++figures.runs;
  return reports;
}

void run_scenario(const Scenario& scenario, Figures& figures) {
  double stopped_since = 0;
  const auto let_go_on = [&](std::vector<RankRun>& runs) {
    RankRun& culprit = runs[static_cast<std::size_t>(scenario.culprit)];
    if (scenario.plan.mischief != Mischief::kStop || !culprit.is_stopped()) return;
    if (stopped_since == 0) stopped_since = steady_seconds();
    if (steady_seconds() - stopped_since < 1.6 * scenario.timeout_seconds) return;
    culprit.signal(SIGCONT);
    stopped_since = 0;
  };
  const std::vector<json> reports = run_ranks(
      scenario.size,
      [&](int rank, const std::string& path) { return work_as_rank(scenario, rank, path); },
      14 * scenario.timeout_seconds + 30, figures, let_go_on);
  for (int rank = 0; rank < scenario.size; ++rank)
    if (rank != scenario.culprit)
      judge(scenario, rank, reports[static_cast<std::size_t>(rank)], figures);

  const json& culprit = reports[static_cast<std::size_t>(scenario.culprit)];
  if (culprit.contains("stuck") || (culprit.contains("together") && !culprit["together"])) {
    ++figures.stuck;
    figures.complaints.push_back(describe(scenario) + ": the rank itself did not come back");
  }
  figures.wrong += culprit.value("wrong", 0);
  if (culprit.value("signal", 0) != SIGKILL || scenario.size > usable_core_count()) return;
  for (const json& report : reports) {
    if (!report.contains("calls")) continue;
    for (const json& call : report.at("calls")) {
      if (call.at("code") == "") continue;
      const double late = call.at("end").get<double>() - culprit.at("end").get<double>();
      ++figures.deaths;
      figures.noticed += late <= kNoticeSeconds ? 1 : 0;
      figures.longest_ms = std::max(figures.longest_ms, late * 1e3);
      break;  // the first
    }
  }
}

}  // namespace fanin::cli
