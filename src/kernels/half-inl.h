// Passes whose inputs are float16 or bfloat16: partials are float32.

#if defined(FANIN_KERNELS_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_KERNELS_HALF_INL_H_
#undef FANIN_KERNELS_HALF_INL_H_
#else
#define FANIN_KERNELS_HALF_INL_H_
#endif

#include <type_traits>

#include "kernels/pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {

template <class Half>
void run_half(const Pass& pass) {
  using Single = Float32Format;
  if (!is_plain_sum(pass)) {
    if (pass.sources_are_partials)
      run_lines<Single, Single>(pass, other_op<Single, Half>);
    else
      run_lines<Half, Single>(pass, other_op<Half, Half>);
  } else if (pass.sources_are_partials) {
    if (pass.targets_are_partials)
      run_pass_float32(pass);
    else
      run_lines<Single, Half>(pass, any_sum<Single, Half>);
  } else if (pass.targets_are_partials) {
    run_lines<Half, Single>(pass, any_sum<Half, Single>);
  } else if constexpr (std::is_same_v<Half, Float16Format>) {
    // Conversions take all the registers: a loop that is not unrolled spills none.
    run_lines<Half, Half>(pass, any_sum<Half, Half>);
  } else {
    run_lines<Half, Half>(pass, frequent_sum<Half, Half>);
  }
}

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
