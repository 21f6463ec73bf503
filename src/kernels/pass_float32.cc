#include "kernels/targets-inl.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pass_float32.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {

void run_float32(const Pass& pass) {
  using Format = Float32Format;
  run_lines<Format, Format>(
      pass, is_plain_sum(pass) ? frequent_sum<Format, Format> : other_op<Format, Format>);
}

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin {

HWY_EXPORT(run_float32);

void run_pass_float32(const Pass& pass) { HWY_DYNAMIC_DISPATCH(run_float32)(pass); }

std::int64_t pass_targets() { return HWY_TARGETS; }

}  // namespace fanin
#endif
