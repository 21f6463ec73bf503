#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "fanin/dtype.h"
#include "schedule/values.h"

namespace fanin {

/// Numbers of very different sizes, so that another order of summing gives other bits.
inline std::vector<float> mixed_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-12, 12);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = std::ldexp(mantissa(random), exponent(random));
  return numbers;
}

/// What the schedule says rank `rank` gets, element by element: the slow and simple way. The inputs
/// are one long row for each rank; `chunk_of` tells the chunk of an element.
template <typename ChunkOf>
std::vector<float> evaluate(const Schedule& schedule, int rank,
                            const std::vector<std::vector<float>>& inputs, ChunkOf chunk_of) {
  std::vector<ChunkWalk> walks;
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) walks.push_back(walk(schedule, chunk));
  std::vector<float> result(inputs.front().size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const ChunkWalk& walked = walks[static_cast<std::size_t>(chunk_of(i))];
    std::vector<float> values;
    for (ValueId id = 0; id < walked.values.count(); ++id) {
      if (walked.values.is_input(id)) {
        values.push_back(inputs[static_cast<std::size_t>(id)][i]);
        continue;
      }
      const auto sources = walked.values.sources(id);
      float sum = values[static_cast<std::size_t>(sources.front())];
      for (const ValueId source : sources.subspan(1))
        sum += values[static_cast<std::size_t>(source)];
      values.push_back(sum);
    }
    result[i] = values[static_cast<std::size_t>(walked.at_end[static_cast<std::size_t>(rank)])];
  }
  return result;
}

}  // namespace fanin
