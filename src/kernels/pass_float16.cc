#include "kernels/targets-inl.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pass_float16.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {

void run_float16(const Pass& pass) { run_half<Float16Format>(pass); }

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin {

HWY_EXPORT(run_float16);

void run_pass_float16(const Pass& pass) { HWY_DYNAMIC_DISPATCH(run_float16)(pass); }

}  // namespace fanin
#endif
