// How two vectors of the partial type become one, for each op.

#if defined(FANIN_KERNELS_COMBINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_KERNELS_COMBINE_INL_H_
#undef FANIN_KERNELS_COMBINE_INL_H_
#else
#define FANIN_KERNELS_COMBINE_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Sum {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Add(a, b);
  }
};

struct Product {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Mul(a, b);
  }
};

/// NaN wins, and -0.0 is below 0.0, so that the order of the operands never matters.
struct Minimum {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    const V smaller = hn::IfThenElse(hn::Lt(a, b), a, b);  // b, if one is NaN
    const V ordered = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), smaller);
    return hn::IfThenElse(hn::IsNaN(a), a, ordered);
  }
};

struct Maximum {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    const V larger = hn::IfThenElse(hn::Gt(a, b), a, b);
    const V ordered = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), larger);
    return hn::IfThenElse(hn::IsNaN(a), a, ordered);
  }
};

/// `Op`, rounded to a narrower format.
template <class Op, class Format>
struct Rounded {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return Format::round(Op::combine(a, b));
  }
};

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
