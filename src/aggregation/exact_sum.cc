#include "aggregation/exact_sum.h"

#include <algorithm>
#include <cmath>

#include "aggregation/exact_pair.h"
#include "aggregation/superaccumulator.h"
#include "core/run_in_parts.h"
#include "kernels/elementwise.h"

namespace fanin {
namespace {

// Elements whose sums stay in the nearest cache from source to source.
constexpr std::size_t kBlock = 512;

// Elements of all sources up to which one thread is faster than a hand-over.
constexpr std::size_t kOneThreadElements = std::size_t{1} << 14;

std::byte* bytes_of(double* elements) { return reinterpret_cast<std::byte*>(elements); }

/// The sums of some elements at a time, in doubles: every other floating-point type is exact in
/// them. Each sum is a pair of doubles as long as that is exact, which nearly all are; what does
/// not fit is summed again by the superaccumulator.
class BlockSum {
 public:
  BlockSum(const Arithmetic& arithmetic, std::span<const Operand> sources)
      : arithmetic_(arithmetic),
        sources_(sources),
        size_(size_of(arithmetic.input)),
        rounding_(arithmetic.input == DType::kFloat64 ? Rounding::kNearest : Rounding::kOdd) {}

  /// At most kBlock elements.
  void run(std::size_t begin, std::size_t count, std::byte* target) {
    load(sources_.front(), begin, count);
    start(count);
    for (const Operand& source : sources_.subspan(1)) {
      load(source, begin, count);
      add(count);
    }
    // All are read before the first is written: the target may be a source.
    for (std::size_t i = 0; i < count; ++i) terms_[i] = finished(begin, i);
    convert(DType::kFloat64, bytes_of(terms_), arithmetic_.input, target + begin * size_, count);
  }

 private:
  void load(const Operand& source, std::size_t begin, std::size_t count) {
    const std::byte* from = source.data + begin * size_;
    DType dtype = arithmetic_.input;
    if (size_ == 2) {  // kernels know halves and floats
      auto* const singles = reinterpret_cast<std::byte*>(singles_);
      convert(dtype, from, DType::kFloat32, singles, count);
      from = singles;
      dtype = DType::kFloat32;
    }
    convert(dtype, from, DType::kFloat64, bytes_of(terms_), count);
  }

  void start(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      high_[i] = terms_[i];
      low_[i] = 0;
      lost_[i] = terms_[i] - terms_[i];  // NaN unless the term is finite
    }
  }

  void add(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const ExactPair high = two_sum(high_[i], terms_[i]);
      const ExactPair low = two_sum(low_[i], high.low);
      high_[i] = high.high;
      low_[i] = low.high;
      lost_[i] += std::abs(low.low);
    }
  }

  double finished(std::size_t begin, std::size_t i) {
    if (lost_[i] == 0) {
      const ExactPair sum{high_[i], low_[i]};
      if (const auto result = quotient(sum, arithmetic_.divisor, rounding_)) return *result;
    }
    for (const Operand& source : sources_) {
      double term = 0;
      convert(arithmetic_.input, source.data + (begin + i) * size_, DType::kFloat64,
              bytes_of(&term), 1);
      accumulator_.add(term);
    }
    return accumulator_.finish(arithmetic_.divisor, rounding_);
  }

  const Arithmetic& arithmetic_;
  std::span<const Operand> sources_;
  std::size_t size_;
  Rounding rounding_;  // the type itself rounds again, unless it is float64
  alignas(64) float singles_[kBlock];
  alignas(64) double terms_[kBlock];
  alignas(64) double high_[kBlock];
  alignas(64) double low_[kBlock];
  alignas(64) double lost_[kBlock];  // 0 where high and low are the exact sum
  Superaccumulator accumulator_;
};

}  // namespace

void exact_sum(Context& context, const Arithmetic& arithmetic, std::span<const Operand> sources,
               std::size_t element_count, std::byte* target) {
  const auto sum_part = [&](std::size_t begin, std::size_t count) {
    BlockSum sum(arithmetic, sources);
    for (const std::size_t end = begin + count; begin < end; begin += kBlock)
      sum.run(begin, std::min(kBlock, end - begin), target);
  };
  if (sources.size() * element_count <= kOneThreadElements)
    sum_part(0, element_count);
  else
    run_in_parts(context, element_count, sum_part);
}

}  // namespace fanin
