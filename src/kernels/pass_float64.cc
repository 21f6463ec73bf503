#include "kernels/targets-inl.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pass_float64.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {

void run_float64(const Pass& pass) {
  using Format = Float64Format;
  run_lines<Format, Format>(
      pass, is_plain_sum(pass) ? frequent_sum<Format, Format> : other_op<Format, Format>);
}

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin {

HWY_EXPORT(run_float64);

void run_pass_float64(const Pass& pass) { HWY_DYNAMIC_DISPATCH(run_float64)(pass); }

}  // namespace fanin
#endif
