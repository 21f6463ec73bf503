#pragma once

// Plans of one rank, for tests.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "executor/proved_schedule.h"
#include "fanin/error.h"
#include "transports/transport.h"

namespace fanin {

inline std::shared_ptr<const ProvedSchedule> proof_of(Schedule schedule) {
  return std::make_shared<const ProvedSchedule>(std::move(schedule));
}

/// What a rank says that waits 50 ms with its plan for one float, while nobody else comes; "" if
/// it did not wait. `more` is for run() of plans that need it.
template <typename Plan, typename... More>
std::string sentence_alone(Plan& plan, Transport& transport, const More&... more) {
  const float number = 1;
  float result = 0;
  const auto* input = reinterpret_cast<const std::byte*>(&number);
  auto* output = reinterpret_cast<std::byte*>(&result);
  Call call{.timeout = std::chrono::milliseconds(50), .describe = [] { return "the test's sum"; }};
  std::uint64_t wave_base = 0;
  try {
    plan.run(transport, wave_base, {&input, 1}, {&output, 1}, call, more...);
  } catch (const DeadlineExceeded& error) {
    return error.what();
  }
  return "";
}

/// Sums nine ones of each of three ranks by a plan for them.
template <typename Plan, typename... More>
void sum_ones_of_3(Plan plan, Transport& transport, std::uint64_t& wave_base, Call& call,
                   const More&... more) {
  const std::vector<float> row(9, 1);
  std::vector<float> result(9);
  const auto* input = reinterpret_cast<const std::byte*>(row.data());
  auto* output = reinterpret_cast<std::byte*>(result.data());
  plan.run(transport, wave_base, {&input, 1}, {&output, 1}, call, more...);
  EXPECT_EQ(result, std::vector<float>(9, 3));
}

/// `run(rank, call)` of each rank waits as long as something that matters more is under way, and
/// no longer; what matters as much does not hold it up.
template <typename Run>
void expect_gives_way(int rank_count, Run run) {
  Precedence precedence;
  std::optional<Precedence::Place> other(std::in_place, precedence, 2);
  other->enter();
  for (const int priority : {2, 1}) {
    std::atomic<int> done = 0;
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < rank_count; ++rank)
      ranks.emplace_back([&, rank] {
        Precedence::Place place(precedence, priority);
        Call call{.describe = [] { return "the test's sum"; }, .place = &place};
        run(rank, call);
        ++done;
      });
    if (priority < 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(done, 0);
      other.reset();
    }
    ranks.clear();
    EXPECT_EQ(done, rank_count);
  }
}

}  // namespace fanin
