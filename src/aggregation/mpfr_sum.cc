#include "aggregation/mpfr_sum.h"

#include <mpfr.h>

#include <cassert>

namespace fanin {
namespace {

/// A type in MPFR's terms, where a number is from 1/2 to 1 times a power of two.
struct Format {
  mpfr_prec_t digits;
  mpfr_exp_t least_exponent;  // of the smallest subnormal number
  mpfr_exp_t most_exponent;
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {11, -23, 16};
    case DType::kBFloat16:
      return {8, -132, 128};
    case DType::kFloat32:
      return {24, -148, 128};
    default:
      return {53, -1073, 1024};
  }
}

class Number {
 public:
  explicit Number(mpfr_prec_t digits) { mpfr_init2(value_, digits); }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

/// What mpfr_subnormalize() needs: the exponents of the type, and back.
class ExponentRange {
 public:
  explicit ExponentRange(const Format& format) {
    mpfr_set_emin(format.least_exponent);
    mpfr_set_emax(format.most_exponent);
  }
  ~ExponentRange() {
    mpfr_set_emin(least_);
    mpfr_set_emax(most_);
  }
  ExponentRange(const ExponentRange&) = delete;
  ExponentRange& operator=(const ExponentRange&) = delete;

 private:
  mpfr_exp_t least_ = mpfr_get_emin();
  mpfr_exp_t most_ = mpfr_get_emax();
};

}  // namespace

double mpfr_sum(DType dtype, std::span<const double> terms, std::int64_t divisor) {
  assert(!terms.empty());
  // From 2^-1074 to 2^1024 times a number of terms: every sum is exact.
  Number sum(2200);
  mpfr_set_d(sum.get(), terms.front(), MPFR_RNDN);
  for (const double term : terms.subspan(1)) {
    [[maybe_unused]] const int error = mpfr_add_d(sum.get(), sum.get(), term, MPFR_RNDN);
    assert(error == 0);
  }
  const Format format = format_of(dtype);
  Number result(format.digits);
  int error = mpfr_div_si(result.get(), sum.get(), divisor, MPFR_RNDN);
  const ExponentRange range(format);
  error = mpfr_check_range(result.get(), error, MPFR_RNDN);
  mpfr_subnormalize(result.get(), error, MPFR_RNDN);
  return mpfr_get_d(result.get(), MPFR_RNDN);
}

}  // namespace fanin
