#pragma once

#include <cstdint>
#include <string_view>

namespace fanin {

/// How the terms of one gradient are summed. The numbers are TensorFlow's, and ours from 3 up.
enum class AggregationMethod : std::int32_t {
  kAddN = 0,  ///< one pass over all terms, which wait for each other
  kDefault = 0,
  kExperimentalTree = 1,         ///< pairs, as they come: at most floor(log2 n) + 1 partial sums
  kExperimentalAccumulateN = 2,  ///< into one buffer, as they come
  kAuto = 3,                     ///< by count, size and memory budget
};

/// "ADD_N", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N" or "AUTO".
std::string_view name(AggregationMethod method);

/// Reads a name in any case; "DEFAULT" is ADD_N, and "EXPERIMENTAL_" may be left out. Throws
/// InvalidArgument (kBadMethod) and lists the names otherwise.
AggregationMethod parse_aggregation_method(std::string_view text);

/// Throws InvalidArgument (kBadMethod) unless it is one of these (a cast number may not be).
void check(AggregationMethod method);

}  // namespace fanin
