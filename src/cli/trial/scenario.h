#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fanin/group.h"
#include "transports/hostile.h"

namespace fanin::cli {

/// Some processes that reduce together, one of which has a mischief.
struct Scenario {
  std::string algorithm = "direct";
  int size = 2;
  int culprit = 0;
  HostilePlan plan;
  double timeout_seconds = 2;
  bool is_registered = false;  ///< whether ranks write into each other's memory
};

/// "die at step 5 of rank 1 of 3, by ring".
std::string describe(const Scenario& scenario);

/// What all trials are about. Shares are of so many.
struct Figures {
  int runs = 0;
  int calls = 0;    ///< of those who had no mischief
  int in_time = 0;  ///< that returned, right or with an error, before the deadline and a second
  int errors = 0;   ///< of them
  int named = 0;    ///< errors that named the right rank
  int wrong = 0;    ///< answers
  int stuck = 0;    ///< ranks that did not come together again, or had to be killed
  int left = 0;     ///< files that were left behind
  int deaths = 0;   ///< noticed by somebody who waited, with a core for each rank
  int noticed = 0;  ///< of these within 100 ms
  double longest_ms = 0;                     ///< to notice one of these
  std::vector<std::string> complaints = {};  ///< a sentence for each thing that should not be

  bool is_good() const {
    return in_time == calls && named == errors && wrong == 0 && stuck == 0 && left == 0;
  }
};

/// Runs it with real processes and adds what was seen.
void run_scenario(const Scenario& scenario, Figures& figures);

/// What a rank does in a trial of its own kind: a report of {"wrong": n, "calls": [...]}.
using RankWork = std::function<nlohmann::json(int rank, const std::string& path)>;

/// Runs the processes and gives their reports, by rank. `on_poll` is called every few milliseconds;
/// whoever has not ended after `limit_seconds` is killed and reports {"stuck": true}. Adds what was
/// left behind.
std::vector<nlohmann::json> run_ranks(
    int size, const RankWork& work, double limit_seconds, Figures& figures,
    const std::function<void(std::vector<class RankRun>&)>& on_poll = {});

/// One all-reduce of numbers that tell, in place where memory is given; whether it is right. Throws
/// as it does.
bool sums_right(Group& group, std::size_t count, const AllReduceOptions& options,
                std::span<float> memory = {});

/// {"seconds", "code", "sentence"} of a call that is timed; code "" if it returned.
nlohmann::json timed_call(const std::function<void()>& call);

}  // namespace fanin::cli
