// Trials of many jobs, one after the other and at once.

#include <fmt/format.h>

#include <numeric>

#include "cli/trial/rank_run.h"
#include "cli/trial/trials.h"
#include "transports/shared_memory.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

constexpr int kRanksOfAJob = 2;
constexpr int kJobsAtOnce = 2;

/// A job of some ranks that meet, sum and go.
json work_in_storm(int rank, const std::string& path) {
  Group group(join_shared_memory(path, rank, kRanksOfAJob, kDefaultWindowBytes,
                                 deadline_after(std::chrono::seconds(20))),
              std::chrono::seconds(10));
  json calls = json::array();
  int wrong = 0;
  for (const std::size_t count : {std::size_t{5}, std::size_t{3000}, std::size_t{100'000}})
    calls.push_back(timed_call([&] { wrong += sums_right(group, count, {}) ? 0 : 1; }));
  return {{"calls", calls}, {"wrong", wrong}};
}

void judge(const std::vector<json>& reports, Figures& figures) {
  for (const json& report : reports) {
    if (!report.contains("calls")) {
      ++figures.stuck;
      figures.complaints.push_back(report.dump());
      continue;
    }
    figures.wrong += report.at("wrong").get<int>();
    for (const json& call : report.at("calls")) {
      ++figures.calls;
      figures.in_time += call.at("code") == "" ? 1 : 0;
      if (call.at("code") != "")
        figures.complaints.push_back(call.at("sentence").get<std::string>());
    }
  }
}

}  // namespace

std::size_t count_storm(const TrialSize& size) { return size.is_quick ? 60 : 1000; }

void run_storm(const TrialSize& size, Figures& figures, Progress& progress) {
  const std::size_t count = count_storm(size);
  progress.start("starts and stops");
  for (std::size_t i = 0; i < count; i += kJobsAtOnce) {
    // Two jobs at once: the ranks of both are processes of one run, at two places.
    const std::vector<json> reports = run_ranks(
        kRanksOfAJob * kJobsAtOnce,
        [](int process, const std::string& path) {
          return work_in_storm(process % kRanksOfAJob,
                               fmt::format("{}-{}", path, process / kRanksOfAJob));
        },
        60, figures);
    judge(reports, figures);
    progress.add(kJobsAtOnce);
  }
}

}  // namespace fanin::cli
