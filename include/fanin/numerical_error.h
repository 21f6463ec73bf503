#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fanin/context.h"
#include "fanin/tensor.h"

namespace fanin {

/// How far numbers are from what they should be. An ulp is the step from one number of a type to
/// the next: 0 ulps is as near as the type can be, and 1 the number beside it.
struct NumericalError {
  std::size_t element_count = 0;
  std::uint64_t max_ulps = 0;
  double mean_ulps = 0;
  double max_relative = 0;        ///< infinity where something should be 0 and is not
  std::size_t worst_element = 0;  ///< the first with max_ulps

  /// Elements by size of the error: exact, 1 ulp, 2 to 3, 4 to 7, and so on by powers of two.
  std::array<std::size_t, 65> histogram = {};
};

/// Compares element by element. A NaN that should be one is right; otherwise it is as wrong as can
/// be. Integers have steps of 1. Throws InvalidArgument (kDtypeMismatch, kShapeMismatch) if they
/// are not alike.
NumericalError measure_error(const Tensor& got, const Tensor& wanted,
                             Context& context = Context::process());

/// The error of both together, with the worst element of the first unless the second's is worse.
NumericalError merge(const NumericalError& first, const NumericalError& second);

/// Within how many ulps that share of the elements is (0.99: all but one of a hundred), rounded up
/// to 0, 1, 3, 7 and so on. A few elements whose terms cancel by chance do not spoil it.
std::uint64_t ulps_within(const NumericalError& error, double share);

}  // namespace fanin
