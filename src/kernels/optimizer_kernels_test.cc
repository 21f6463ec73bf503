#include "kernels/optimizer_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "kernels/pass.h"

namespace fanin {
namespace {

constexpr std::size_t kCounts[] = {0, 1, 3, 7, 8, 15, 16, 17, 37, 64, 1001};

/// Floats at an address that nothing divides, between bytes that must stay.
class Unaligned {
 public:
  explicit Unaligned(std::span<const float> numbers)
      : bytes_(numbers.size_bytes() + 2 * kMargin, kFill) {
    if (!numbers.empty()) std::memcpy(data(), numbers.data(), numbers.size_bytes());
  }
  std::byte* data() { return bytes_.data() + kMargin; }

  std::vector<std::uint32_t> bits() const {
    std::vector<std::uint32_t> bits((bytes_.size() - 2 * kMargin) / sizeof(float));
    if (!bits.empty()) std::memcpy(bits.data(), bytes_.data() + kMargin, bits.size() * 4);
    for (std::size_t i = 0; i < kMargin; ++i) {
      EXPECT_EQ(bytes_[i], kFill) << "written before the first element";
      EXPECT_EQ(bytes_[bytes_.size() - 1 - i], kFill) << "written after the last element";
    }
    return bits;
  }

 private:
  static constexpr std::size_t kMargin = 67;
  static constexpr std::byte kFill{0xa5};
  std::vector<std::byte> bytes_;
};

std::vector<std::uint32_t> bits_of(std::span<const float> numbers) {
  std::vector<std::uint32_t> bits;
  for (const float number : numbers) bits.push_back(std::bit_cast<std::uint32_t>(number));
  return bits;
}

/// Numbers of all sizes, with zeros of both signs, denormal ones and large ones among them.
std::vector<float> make_numbers(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-12, 12);
  const float odd[] = {0.0F, -0.0F, 1e-40F, -1e-30F, 1e10F, -1e15F};
  std::vector<float> numbers(count);
  for (float& number : numbers)
    number = random() % 8 == 0 ? odd[random() % 6] : std::ldexp(mantissa(random), exponent(random));
  return numbers;
}

/// The state before a step, and the naive step.
struct Sample {
  explicit Sample(std::size_t count)
      : parameters(make_numbers(count, 1)),
        gradients(make_numbers(count, 2)),
        averages(make_numbers(count, 3)),
        squares(make_numbers(count, 4)) {
    for (float& square : squares) square = std::abs(square);
  }

  void step(const SgdStep& step, bool has_momentum) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      float gradient = gradients[i];
      if (step.weight_decay != 0) gradient = gradient + step.weight_decay * parameters[i];
      if (has_momentum) {
        averages[i] =
            step.is_first ? gradient : averages[i] * step.momentum + step.gradient_share * gradient;
        gradient = step.is_nesterov ? gradient + step.momentum * averages[i] : averages[i];
      }
      parameters[i] = parameters[i] - step.learning_rate * gradient;
    }
  }

  void step(const AdamStep& step) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      float gradient = gradients[i];
      if (step.weight_decay != 0) gradient = gradient + step.weight_decay * parameters[i];
      averages[i] = step.gradient_share < 0.5F
                        ? averages[i] + step.gradient_share * (gradient - averages[i])
                        : gradient + (step.gradient_share - 1) * (gradient - averages[i]);
      squares[i] = squares[i] * step.square_decay + step.square_share * gradient * gradient;
      const float divisor = std::sqrt(squares[i]) / step.root_correction + step.epsilon;
      parameters[i] = parameters[i] - step.step_size * averages[i] / divisor;
    }
  }

  std::vector<float> parameters;
  std::vector<float> gradients;
  std::vector<float> averages;
  std::vector<float> squares;
};

/// The vectors of every machine: each target that this one can run.
class OptimizersOnEveryTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { use(GetParam()); }
  void TearDown() override { use(0); }

 private:
  static void use(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST_P(OptimizersOnEveryTarget, SgdHasTheBitsOfTheNaiveLoop) {
  for (const std::size_t count : kCounts)
    for (const float weight_decay : {0.0F, 0.1F})
      for (int form = 0; form < 5; ++form) {
        const bool has_momentum = form > 0;
        const SgdStep step = {.learning_rate = 0.03F,
                              .momentum = 0.9F,
                              .gradient_share = 0.7F,
                              .weight_decay = weight_decay,
                              .is_nesterov = form > 2,
                              .is_first = form % 2 == 1};
        Sample sample(count);
        Unaligned parameters(sample.parameters);
        Unaligned gradients(sample.gradients);
        Unaligned momenta(sample.averages);
        step_sgd(step, parameters.data(), gradients.data(), has_momentum ? momenta.data() : nullptr,
                 count);
        sample.step(step, has_momentum);
        EXPECT_EQ(parameters.bits(), bits_of(sample.parameters)) << count << " form " << form;
        EXPECT_EQ(momenta.bits(), bits_of(sample.averages)) << count << " form " << form;
        EXPECT_EQ(gradients.bits(), bits_of(sample.gradients)) << count << " form " << form;
      }
}

TEST_P(OptimizersOnEveryTarget, AdamHasTheBitsOfTheNaiveLoop) {
  for (const std::size_t count : kCounts)
    for (const float weight_decay : {0.0F, 0.1F})
      for (const float gradient_share : {0.1F, 0.499F, 0.5F, 0.8F, 1.0F}) {
        const AdamStep step = {.step_size = 0.3F,
                               .gradient_share = gradient_share,
                               .square_decay = 0.99F,
                               .square_share = 0.01F,
                               .root_correction = 0.2F,
                               .epsilon = 1e-8F,
                               .weight_decay = weight_decay};
        Sample sample(count);
        Unaligned parameters(sample.parameters);
        Unaligned gradients(sample.gradients);
        Unaligned averages(sample.averages);
        Unaligned squares(sample.squares);
        step_adam(step, parameters.data(), gradients.data(), averages.data(), squares.data(),
                  count);
        sample.step(step);
        EXPECT_EQ(parameters.bits(), bits_of(sample.parameters)) << count;
        EXPECT_EQ(averages.bits(), bits_of(sample.averages)) << count;
        EXPECT_EQ(squares.bits(), bits_of(sample.squares)) << count;
        EXPECT_EQ(gradients.bits(), bits_of(sample.gradients)) << count;
      }
}

TEST_P(OptimizersOnEveryTarget, SquaresAreSummedInOneOrder) {
  for (const std::size_t count : kCounts) {
    const std::vector<float> numbers = make_numbers(count, 5);
    double partials[16] = {};
    for (std::size_t i = 0; i < count; ++i)
      partials[i % 16] += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
    for (std::size_t half = 8; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) partials[i] += partials[i + half];
    EXPECT_EQ(sum_of_squares(Unaligned(numbers).data(), count), partials[0]) << count;
  }
}

TEST_P(OptimizersOnEveryTarget, SquaresDoNotOverflow) {
  const float largest = std::numeric_limits<float>::max();
  const std::vector<float> numbers(100, largest);
  EXPECT_DOUBLE_EQ(sum_of_squares(Unaligned(numbers).data(), numbers.size()),
                   100.0 * largest * largest);
}

std::vector<std::int64_t> targets_here() {
  std::vector<std::int64_t> each;
  for (std::int64_t left = hwy::SupportedTargets() & pass_targets(); left != 0; left &= left - 1)
    each.push_back(left & -left);
  return each;
}

INSTANTIATE_TEST_SUITE_P(Kernels, OptimizersOnEveryTarget, testing::ValuesIn(targets_here()),
                         [](const auto& each) { return hwy::TargetName(each.param); });

}  // namespace
}  // namespace fanin
