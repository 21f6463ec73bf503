#include "fanin/numerical_error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/require.h"
#include "core/thread_pool.h"
#include "core/visit_dtype.h"

namespace fanin {
namespace {

constexpr std::uint64_t kFarthest = std::numeric_limits<std::uint64_t>::max();

/// An integer that grows with the number, by 1 for each step of the type; -0.0 and 0.0 are one.
template <typename T>
std::int64_t step_number(T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t,
                                  std::conditional_t<sizeof(T) == 4, std::int32_t, std::int16_t>>;
  const auto bits = std::bit_cast<Bits>(value);
  return bits >= 0 ? std::int64_t{bits} : std::int64_t{std::numeric_limits<Bits>::min()} - bits;
}

template <typename T>
double to_double(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(static_cast<float>(value));
}

template <typename T>
std::uint64_t ulps_between(T got, T wanted) {
  if constexpr (std::is_integral_v<T>) {
    // By way of 64 bits with the sign of T; the difference may need all 64.
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const auto a = static_cast<std::uint64_t>(Wide{std::max(got, wanted)});
    return a - static_cast<std::uint64_t>(Wide{std::min(got, wanted)});
  } else {
    const bool got_nan = std::isnan(to_double(got));
    const bool wanted_nan = std::isnan(to_double(wanted));
    if (got_nan || wanted_nan) return got_nan && wanted_nan ? 0 : kFarthest;
    const std::int64_t a = step_number(got);
    const std::int64_t b = step_number(wanted);
    return static_cast<std::uint64_t>(std::max(a, b)) - static_cast<std::uint64_t>(std::min(a, b));
  }
}

template <typename T>
double relative_between(T got, T wanted) {
  const double a = to_double(got);
  const double b = to_double(wanted);
  const double distance = std::abs(a - b);
  // Not a number: infinities of different signs, or a NaN where there should be none.
  return std::isnan(distance) || b == 0 ? std::numeric_limits<double>::infinity()
                                        : distance / std::abs(b);
}

template <typename T>
NumericalError measure(const T* got, const T* wanted, std::size_t begin, std::size_t end) {
  NumericalError error{.element_count = end - begin};
  double total_ulps = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint64_t ulps = ulps_between(got[i], wanted[i]);
    ++error.histogram[static_cast<std::size_t>(std::bit_width(ulps))];
    if (ulps == 0) continue;
    total_ulps += static_cast<double>(ulps);
    error.max_relative = std::max(error.max_relative, relative_between(got[i], wanted[i]));
    if (ulps <= error.max_ulps) continue;
    error.max_ulps = ulps;
    error.worst_element = i;
  }
  if (end > begin) error.mean_ulps = total_ulps / static_cast<double>(end - begin);
  return error;
}

/// Elements of any alignment.
template <typename T>
NumericalError measure_in_parts(const Tensor& got, const Tensor& wanted, Context& context) {
  const auto is_aligned = [](const Tensor& tensor) {
    return reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % alignof(T) == 0;
  };
  if (!is_aligned(got) || !is_aligned(wanted)) {
    const auto some = got.to_vector<T>();
    const auto others = wanted.to_vector<T>();
    return measure(some.data(), others.data(), 0, some.size());
  }
  const auto* const some = reinterpret_cast<const T*>(got.bytes().data());
  const auto* const others = reinterpret_cast<const T*>(wanted.bytes().data());
  const auto threads = static_cast<std::size_t>(context.thread_count());
  std::vector<NumericalError> parts(threads);
  context.threads().run(context.thread_count(), [&](int thread) {
    const auto part = static_cast<std::size_t>(thread);
    parts[part] = measure(some, others, got.element_count() * part / threads,
                          got.element_count() * (part + 1) / threads);
  });
  NumericalError whole = parts[0];
  for (std::size_t i = 1; i < threads; ++i) whole = merge(whole, parts[i]);
  return whole;
}

}  // namespace

NumericalError merge(const NumericalError& first, const NumericalError& second) {
  NumericalError both = first.max_ulps >= second.max_ulps ? first : second;
  both.element_count = first.element_count + second.element_count;
  both.max_relative = std::max(first.max_relative, second.max_relative);
  if (both.element_count > 0)
    both.mean_ulps = (first.mean_ulps * static_cast<double>(first.element_count) +
                      second.mean_ulps * static_cast<double>(second.element_count)) /
                     static_cast<double>(both.element_count);
  for (std::size_t i = 0; i < both.histogram.size(); ++i)
    both.histogram[i] = first.histogram[i] + second.histogram[i];
  return both;
}

std::uint64_t ulps_within(const NumericalError& error, double share) {
  const double wanted = share * static_cast<double>(error.element_count);
  std::size_t count = 0;
  for (std::size_t size = 0; size < error.histogram.size(); ++size) {
    count += error.histogram[size];
    if (static_cast<double>(count) >= wanted)
      return size == 64 ? kFarthest : (std::uint64_t{1} << size) - 1;
  }
  return kFarthest;
}

NumericalError measure_error(const Tensor& got, const Tensor& wanted, Context& context) {
  require(got.dtype() == wanted.dtype(), ErrorKind::kDtypeMismatch,
          "{} cannot be compared with {}; errors are measured in steps of one dtype",
          name(got.dtype()), name(wanted.dtype()));
  require(got.shape() == wanted.shape(), ErrorKind::kShapeMismatch,
          "shape {} cannot be compared with shape {}", to_string(got.shape()),
          to_string(wanted.shape()));
  return visit_dtype(got.dtype(), [&]<typename T>(std::type_identity<T>) {
    return measure_in_parts<T>(got, wanted, context);
  });
}

}  // namespace fanin
