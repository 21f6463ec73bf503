// How floating-point types are loaded into and stored from vectors of their partial type. The same
// bits on every target: Highway 1.0.3 truncates to bfloat16, and without F16C leaves the rounding
// to float16 open, so these are written out.

#if defined(FANIN_KERNELS_FORMAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_KERNELS_FORMAT_INL_H_
#undef FANIN_KERNELS_FORMAT_INL_H_
#else
#define FANIN_KERNELS_FORMAT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of at most one cache line.
template <typename T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;

#if HWY_TARGET == HWY_SCALAR
// One lane, which Highway would read and write through a pointer that must be aligned.
template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* from) {
  hn::TFromD<D> lane;
  std::memcpy(&lane, from, sizeof lane);
  return hn::Set(d, lane);
}

template <bool kStream, class D>
HWY_INLINE void store_bytes(D /*d*/, hn::Vec<D> value, std::byte* to) {
  std::memcpy(to, &value.raw, sizeof value.raw);
}
#else
template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* from) {
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
}

template <bool kStream, class D>
HWY_INLINE void store_bytes(D /*d*/, hn::Vec<D> value, std::byte* to) {
  const hn::Repartition<std::uint8_t, D> bytes;
  auto* const target = reinterpret_cast<std::uint8_t*>(to);
  if constexpr (kStream)
    hn::Stream(hn::BitCast(bytes, value), bytes, target);
  else
    hn::StoreU(hn::BitCast(bytes, value), bytes, target);
}
#endif

/// A type that is its own partial type.
template <typename T>
struct Plain {
  using D = Tag<T>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kSize = sizeof(T);

  static HWY_INLINE V load(const std::byte* from) { return load_bytes(D(), from); }
  template <bool kStream>
  static HWY_INLINE void store(V value, std::byte* to) {
    store_bytes<kStream>(D(), value, to);
  }
  static HWY_INLINE V round(V value) { return value; }
};

/// What both halves share: 16 bits in memory, 32 bits of a float in vectors.
template <class Bits>
struct Half {
  using D = Tag<float>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kSize = 2;

  static HWY_INLINE V load(const std::byte* from) {
    const hn::Rebind<std::uint16_t, D> d16;
    return Bits::widen(load_bytes(d16, from));
  }
  template <bool kStream>
  static HWY_INLINE void store(V value, std::byte* to) {
    const hn::Rebind<std::uint16_t, D> d16;
    store_bytes<kStream>(d16, Bits::narrow(value), to);
  }
  static HWY_INLINE V round(V value) { return Bits::widen(Bits::narrow(value)); }
};

struct BFloat16Bits {
  using D = Tag<float>;
  using D32 = hn::RebindToUnsigned<D>;
  using D16 = hn::Rebind<std::uint16_t, D>;

  static HWY_INLINE hn::Vec<D> widen(hn::Vec<D16> half) {
    return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(D32(), half)));
  }
  static HWY_INLINE hn::Vec<D16> narrow(hn::Vec<D> value) {
    return truncate(hn::ShiftRight<16>(round_upper(value)));
  }
  /// The upper halves of the lanes: to nearest, ties to even; NaN stays NaN. Below is anything.
  static HWY_INLINE hn::Vec<D32> round_upper(hn::Vec<D> value) {
    const D32 d32;
    const auto bits = hn::BitCast(d32, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1U));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7fffU)));
    const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000U));
    return hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(value)), quiet, rounded);
  }
  /// Lanes that are below 2^16.
  static HWY_INLINE hn::Vec<D16> truncate(hn::Vec<D32> bits) {
    // Through signed lanes with a range that saturation leaves alone, for what every target has.
    const hn::RebindToSigned<D32> signed32;
    const auto sign_extended = hn::ShiftRight<16>(hn::BitCast(signed32, hn::ShiftLeft<16>(bits)));
    const hn::Rebind<std::int16_t, D> signed16;
    return hn::BitCast(D16(), hn::DemoteTo(signed16, sign_extended));
  }
};

struct Float16Bits {
  using D = Tag<float>;
  using D32 = hn::RebindToUnsigned<D>;
  using D16 = hn::Rebind<std::uint16_t, D>;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  // F16C does what the lines below do.
  static HWY_INLINE hn::Vec<D> widen(hn::Vec<D16> half) {
    const hn::Rebind<hwy::float16_t, D> d16;
    return hn::PromoteTo(D(), hn::BitCast(d16, half));
  }
  static HWY_INLINE hn::Vec<D16> narrow(hn::Vec<D> value) {
    const hn::Rebind<hwy::float16_t, D> d16;
    return hn::BitCast(D16(), hn::DemoteTo(d16, value));
  }
#else
  static HWY_INLINE hn::Vec<D> widen(hn::Vec<D16> half) {
    const D d;
    const D32 d32;
    const auto bits = hn::PromoteTo(d32, half);
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, 0x8000U)));
    const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(d32, 0x7fffU)));
    // Moves the exponent from bias 15 to 127 by a multiplication: subnormals become right too.
    const auto finite = hn::BitCast(d32, hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112F)));
    const auto infinite = hn::Or(magnitude, hn::Set(d32, 0x7f800000U));
    const auto quiet = hn::Or(infinite, hn::Set(d32, 0x400000U));
    const auto exponent_full = hn::Set(d32, 0x7c00U << 13);
    const auto widened =
        hn::IfThenElse(hn::Gt(magnitude, exponent_full), quiet,
                       hn::IfThenElse(hn::Eq(magnitude, exponent_full), infinite, finite));
    return hn::BitCast(d, hn::Or(sign, widened));
  }
  static HWY_INLINE hn::Vec<D16> narrow(hn::Vec<D> value) {
    const D d;
    const D32 d32;
    const auto bits = hn::BitCast(d32, value);
    const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 0x8000U));
    const auto magnitude = hn::And(bits, hn::Set(d32, 0x7fffffffU));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 1U));
    const auto biased = hn::Add(hn::Add(magnitude, hn::Set(d32, 0xfffU)), odd);
    const auto normal = hn::ShiftRight<13>(hn::Sub(biased, hn::Set(d32, 0x38000000U)));
    // Adding 0.5 moves the last place of a half to the last place of a float.
    const auto subnormal =
        hn::Sub(hn::BitCast(d32, hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5F))),
                hn::Set(d32, 0x3f000000U));
    const auto payload = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 0x3ffU));
    const auto quiet = hn::Or(payload, hn::Set(d32, 0x7e00U));
    auto half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d32, 0x38800000U)), subnormal, normal);
    half =
        hn::IfThenElse(hn::Lt(magnitude, hn::Set(d32, 0x477ff000U)), half, hn::Set(d32, 0x7c00U));
    half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d32, 0x7f800000U)), quiet, half);
    return BFloat16Bits::truncate(hn::Or(sign, half));
  }
#endif
};

using Float32Format = Plain<float>;
using Float64Format = Plain<double>;
using Float16Format = Half<Float16Bits>;

/// Two vectors at a time can be had as even and odd elements, which takes one instruction each.
struct BFloat16Format : Half<BFloat16Bits> {
  using D32 = BFloat16Bits::D32;

  static HWY_INLINE void load_split(const std::byte* from, V& even, V& odd) {
    const auto both = load_bytes(D32(), from);
    even = hn::BitCast(D(), hn::ShiftLeft<16>(both));
    odd = hn::BitCast(D(), hn::And(both, hn::Set(D32(), 0xffff0000U)));
  }
  template <bool kStream>
  static HWY_INLINE void store_split(V even, V odd, std::byte* to) {
    const auto lower = hn::ShiftRight<16>(BFloat16Bits::round_upper(even));
    const auto upper = hn::And(BFloat16Bits::round_upper(odd), hn::Set(D32(), 0xffff0000U));
    store_bytes<kStream>(D32(), hn::Or(lower, upper), to);
  }
};

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
