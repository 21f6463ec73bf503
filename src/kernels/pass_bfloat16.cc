#include "kernels/targets-inl.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pass_bfloat16.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {

void run_bfloat16(const Pass& pass) { run_half<BFloat16Format>(pass); }

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin {

HWY_EXPORT(run_bfloat16);

void run_pass_bfloat16(const Pass& pass) { HWY_DYNAMIC_DISPATCH(run_bfloat16)(pass); }

}  // namespace fanin
#endif
