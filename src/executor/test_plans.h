#pragma once

// Plans of one rank, for tests.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "executor/proved_schedule.h"
#include "fanin/error.h"
#include "transports/transport.h"

namespace fanin {

inline std::shared_ptr<const ProvedSchedule> proof_of(Schedule schedule) {
  return std::make_shared<const ProvedSchedule>(std::move(schedule));
}

/// What a rank says that waits 50 ms with its plan for one float, while nobody else comes; "" if
/// it did not wait.
template <typename Plan>
std::string sentence_alone(Plan& plan, Transport& transport) {
  const float number = 1;
  float result = 0;
  const auto* input = reinterpret_cast<const std::byte*>(&number);
  auto* output = reinterpret_cast<std::byte*>(&result);
  Call call{.timeout = std::chrono::milliseconds(50), .describe = [] { return "the test's sum"; }};
  std::uint64_t wave_base = 0;
  try {
    plan.run(transport, wave_base, {&input, 1}, {&output, 1}, call);
  } catch (const DeadlineExceeded& error) {
    return error.what();
  }
  return "";
}

}  // namespace fanin
