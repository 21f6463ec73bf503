#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "executor/layout.h"
#include "schedule/values.h"

namespace fanin {

/// Numbers of very different sizes, so that another order of summing gives other bits. Plain
/// arithmetic, because the library's distributions are slow where tests are not optimised.
inline std::vector<float> mixed_floats(std::size_t count, unsigned seed) {
  std::vector<float> numbers(count);
  std::uint64_t state = seed;
  for (float& number : numbers) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto mantissa = static_cast<float>(static_cast<std::int32_t>(state >> 32U));
    number = std::ldexp(mantissa, static_cast<int>((state >> 24U) % 25) - 43);
  }
  return numbers;
}

/// What the schedule says rank `rank` gets, value by value: the slow and simple way. The inputs are
/// one long row for each rank.
inline std::vector<float> evaluate(const Schedule& schedule, int rank,
                                   const std::vector<std::vector<float>>& inputs,
                                   const Layout& layout) {
  std::vector<float> result;
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    const Layout::Range range = layout.chunk(chunk);
    const std::size_t count = range.end - range.begin;
    const ChunkWalk walked = walk(schedule, chunk);
    std::vector<std::vector<float>> values;
    for (ValueId id = 0; id < walked.values.count(); ++id) {
      if (walked.values.is_input(id)) {
        const float* const row = inputs[static_cast<std::size_t>(id)].data();
        values.emplace_back(row + range.begin, row + range.end);
        continue;
      }
      const auto sources = walked.values.sources(id);
      std::vector<float> sums = values[static_cast<std::size_t>(sources.front())];
      float* const sum = sums.data();
      for (const ValueId source : sources.subspan(1)) {
        const float* const term = values[static_cast<std::size_t>(source)].data();
        for (std::size_t i = 0; i < count; ++i) sum[i] += term[i];
      }
      values.push_back(std::move(sums));
    }
    const auto& end =
        values[static_cast<std::size_t>(walked.at_end[static_cast<std::size_t>(rank)])];
    result.insert(result.end(), end.begin(), end.end());
  }
  return result;
}

}  // namespace fanin
