#include "kernels/optimizer_kernels.h"

#include "kernels/targets-inl.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "kernels/format-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Format = Plain<float>;
using V = Format::V;

inline V everywhere(float number) { return hn::Set(Format::D(), number); }

/// Gradients, and what a rule changes by them: parameters first.
template <std::size_t kChanged>
struct Arrays {
  const std::byte* gradients;
  std::byte* changed[kChanged];
};

/// One vector at `offset`, in bytes.
template <class Rule>
HWY_INLINE void update_vector(const Rule& rule, const Arrays<Rule::kChanged>& arrays,
                              std::size_t offset) {
  V values[Rule::kChanged];
  HWY_UNROLL(3)
  for (std::size_t c = 0; c < Rule::kChanged; ++c)
    values[c] = Format::load(arrays.changed[c] + offset);
  rule.update(Format::load(arrays.gradients + offset), values);
  HWY_UNROLL(3)
  for (std::size_t c = 0; c < Rule::kChanged; ++c)
    Format::template store<false>(values[c], arrays.changed[c] + offset);
}

// By value: through references the compiler would load them again after each store.
template <class Rule>
HWY_NOINLINE void walk(const Rule rule, const Arrays<Rule::kChanged> arrays, std::size_t count) {
  constexpr std::size_t kVectorBytes = hn::MaxLanes(Format::D()) * sizeof(float);
  const std::size_t bytes = count * sizeof(float);
  std::size_t done = 0;
  for (; done + kVectorBytes <= bytes; done += kVectorBytes) update_vector(rule, arrays, done);
  const std::size_t rest = bytes - done;
  if (rest == 0) return;

  // The rest, padded to a vector, by the same instructions.
  alignas(64) std::byte gradients[kVectorBytes] = {};
  alignas(64) std::byte changed[Rule::kChanged][kVectorBytes] = {};
  std::memcpy(gradients, arrays.gradients + done, rest);
  Arrays<Rule::kChanged> padded = {gradients, {}};
  for (std::size_t c = 0; c < Rule::kChanged; ++c) {
    std::memcpy(changed[c], arrays.changed[c] + done, rest);
    padded.changed[c] = changed[c];
  }
  update_vector(rule, padded, 0);
  for (std::size_t c = 0; c < Rule::kChanged; ++c)
    std::memcpy(arrays.changed[c] + done, changed[c], rest);
}

/// Calls `call` with std::true_type or std::false_type.
template <class Call>
void with_flag(bool flag, const Call& call) {
  if (flag)
    call(std::true_type());
  else
    call(std::false_type());
}

template <bool kHasDecay>
HWY_INLINE V add_decay(V gradient, V parameter, V weight_decay) {
  if constexpr (kHasDecay)
    return hn::Add(gradient, hn::Mul(weight_decay, parameter));
  else
    return gradient;
}

template <bool kHasDecay>
struct PlainSgd {
  static constexpr std::size_t kChanged = 1;
  V learning_rate;
  V weight_decay;

  HWY_INLINE void update(V gradient, V (&values)[kChanged]) const {
    auto& [parameter] = values;
    gradient = add_decay<kHasDecay>(gradient, parameter, weight_decay);
    parameter = hn::Sub(parameter, hn::Mul(learning_rate, gradient));
  }
};

template <bool kHasDecay, bool kIsFirst, bool kIsNesterov>
struct MomentumSgd {
  static constexpr std::size_t kChanged = 2;
  V learning_rate;
  V weight_decay;
  V momentum;
  V gradient_share;

  HWY_INLINE void update(V gradient, V (&values)[kChanged]) const {
    auto& [parameter, average] = values;
    gradient = add_decay<kHasDecay>(gradient, parameter, weight_decay);
    if constexpr (kIsFirst)
      average = gradient;
    else
      average = hn::Add(hn::Mul(average, momentum), hn::Mul(gradient_share, gradient));
    const V direction = kIsNesterov ? hn::Add(gradient, hn::Mul(momentum, average)) : average;
    parameter = hn::Sub(parameter, hn::Mul(learning_rate, direction));
  }
};

/// The average walks from where it was, or back from the gradient if that is nearer: PyTorch's
/// lerp, with which the two ends are exact.
template <bool kHasDecay, bool kStartsFromGradient>
struct Adam {
  static constexpr std::size_t kChanged = 3;
  V step_size;
  V way;  // 1 - beta1, or from the gradient -beta1
  V square_decay;
  V square_share;
  V root_correction;
  V epsilon;
  V weight_decay;

  HWY_INLINE void update(V gradient, V (&values)[kChanged]) const {
    auto& [parameter, average, square_average] = values;
    gradient = add_decay<kHasDecay>(gradient, parameter, weight_decay);
    average =
        hn::Add(kStartsFromGradient ? gradient : average, hn::Mul(way, hn::Sub(gradient, average)));
    square_average = hn::Add(hn::Mul(square_average, square_decay),
                             hn::Mul(hn::Mul(square_share, gradient), gradient));
    const V divisor = hn::Add(hn::Div(hn::Sqrt(square_average), root_correction), epsilon);
    parameter = hn::Sub(parameter, hn::Div(hn::Mul(step_size, average), divisor));
  }
};

void run_sgd(const SgdStep& step, std::byte* parameters, const std::byte* gradients,
             std::byte* momenta, std::size_t count) {
  const V learning_rate = everywhere(step.learning_rate);
  const V weight_decay = everywhere(step.weight_decay);
  with_flag(step.weight_decay != 0, [&](auto has_decay) HWY_ATTR {
    if (momenta == nullptr)
      return walk(PlainSgd<has_decay.value>{learning_rate, weight_decay}, {gradients, {parameters}},
                  count);
    with_flag(step.is_first, [&](auto is_first) HWY_ATTR {
      with_flag(step.is_nesterov, [&](auto is_nesterov) HWY_ATTR {
        using Rule = MomentumSgd<decltype(has_decay)::value, is_first.value, is_nesterov.value>;
        walk(Rule{learning_rate, weight_decay, everywhere(step.momentum),
                  everywhere(step.gradient_share)},
             {gradients, {parameters, momenta}}, count);
      });
    });
  });
}

void run_adam(const AdamStep& step, std::byte* parameters, const std::byte* gradients,
              std::byte* averages, std::byte* square_averages, std::size_t count) {
  with_flag(step.weight_decay != 0, [&](auto has_decay) HWY_ATTR {
    with_flag(step.gradient_share >= 0.5F, [&](auto from_gradient) HWY_ATTR {
      using Rule = Adam<decltype(has_decay)::value, from_gradient.value>;
      walk(Rule{everywhere(step.step_size),
                everywhere(from_gradient.value ? step.gradient_share - 1 : step.gradient_share),
                everywhere(step.square_decay), everywhere(step.square_share),
                everywhere(step.root_correction), everywhere(step.epsilon),
                everywhere(step.weight_decay)},
           {gradients, {parameters, averages, square_averages}}, count);
    });
  });
}

inline constexpr std::size_t kPartialSums = 16;

template <class D>
HWY_INLINE void add_squares(const std::byte* from,
                            hn::Vec<D> (&sums)[kPartialSums / hn::MaxLanes(D())]) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  const hn::Rebind<float, D> narrow;
  HWY_UNROLL(16)
  for (std::size_t s = 0; s < kPartialSums / kLanes; ++s) {
    const auto wide = hn::PromoteTo(D(), load_bytes(narrow, from + s * kLanes * sizeof(float)));
    sums[s] = hn::Add(sums[s], hn::Mul(wide, wide));
  }
}

double run_squares(const std::byte* numbers, std::size_t count) {
  using D = Tag<double>;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  constexpr std::size_t kTurnBytes = kPartialSums * sizeof(float);
  hn::Vec<D> sums[kPartialSums / kLanes];
  for (auto& sum : sums) sum = hn::Zero(D());
  const std::size_t bytes = count * sizeof(float);
  std::size_t done = 0;
  for (; done + kTurnBytes <= bytes; done += kTurnBytes) add_squares<D>(numbers + done, sums);
  if (done < bytes) {
    alignas(64) std::byte padded[kTurnBytes] = {};
    std::memcpy(padded, numbers + done, bytes - done);
    add_squares<D>(padded, sums);
  }
  double partials[kPartialSums];
  for (std::size_t s = 0; s < kPartialSums / kLanes; ++s)
    store_bytes<false>(D(), sums[s], reinterpret_cast<std::byte*>(partials + s * kLanes));
  for (std::size_t half = kPartialSums / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) partials[i] += partials[i + half];
  return partials[0];
}

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin {

HWY_EXPORT(run_sgd);
HWY_EXPORT(run_adam);
HWY_EXPORT(run_squares);

void step_sgd(const SgdStep& step, std::byte* parameters, const std::byte* gradients,
              std::byte* momenta, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(run_sgd)(step, parameters, gradients, momenta, count);
}

void step_adam(const AdamStep& step, std::byte* parameters, const std::byte* gradients,
               std::byte* averages, std::byte* square_averages, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(run_adam)(step, parameters, gradients, averages, square_averages, count);
}

double sum_of_squares(const std::byte* numbers, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(run_squares)(numbers, count);
}

}  // namespace fanin
#endif
