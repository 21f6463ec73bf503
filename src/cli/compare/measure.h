#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/compare/gradient_set.h"
#include "fanin/aggregator.h"
#include "fanin/numerical_error.h"

namespace fanin::cli {

/// A way to sum.
struct Way {
  AggregationMethod method = AggregationMethod::kAddN;
  Accumulation accumulation = Accumulation::kWide;
};

/// "ADD_N", "TREE, native".
std::string text_of(const Way& way);

/// What a way has cost, and how far it was from the exact sum.
struct Measurement {
  Way way = {};
  double seconds = 0;  ///< median over rounds: all gradients, from first push to sum
  double least_seconds = 0;
  double most_seconds = 0;
  std::size_t peak_bytes = 0;  ///< most in hand at once, terms and partial sums
  NumericalError error = {};
  std::string worst_gradient;  ///< where error.worst_element is
};

/// The ways that differ for terms of this type: halves can be rounded at each step, integers have
/// no error.
std::vector<Way> ways_for(DType dtype);

/// Sums each gradient, whose terms arrive one after the other, in every way, in turns, at least
/// `rounds` times. `on_step` is told of
/// each way before it is taken.
std::vector<Measurement> measure_ways(const std::vector<GradientTerms>& gradients,
                                      const std::vector<Way>& ways, int rounds,
                                      const std::function<void(const Way&)>& on_step);

}  // namespace fanin::cli
