#include "optimizers/optimizer_options.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/expect_error.h"

namespace fanin {
namespace {

TEST(OptimizerOptions, HaveDefaultsThatPass) {
  check(SgdOptions{});
  check(AdamOptions{});
  check(SgdOptions{.learning_rate = 0, .momentum = 0.9, .is_nesterov = true});
  check(AdamOptions{.beta1 = 0, .beta2 = 0, .epsilon = 0});
}

TEST(OptimizerOptions, AreNumbersFromZero) {
  for (const double bad : {-0.1, std::nan(""), std::numeric_limits<double>::infinity(), 1e39}) {
    const auto expect = [&](const std::string& name, const OptimizerOptions& options) {
      expect_error(ErrorKind::kBadOption,
                   fmt::format("{} must be 0 or more and within float32, got {}", name, bad),
                   [&] { check(options); });
    };
    expect("learning_rate", SgdOptions{.learning_rate = bad});
    expect("momentum", SgdOptions{.momentum = bad});
    expect("dampening", SgdOptions{.dampening = bad});
    expect("weight_decay", SgdOptions{.weight_decay = bad});
    expect("learning_rate", AdamOptions{.learning_rate = bad});
    expect("epsilon", AdamOptions{.epsilon = bad});
    expect("weight_decay", AdamOptions{.weight_decay = bad});
    EXPECT_THROW(check_learning_rate(bad), InvalidArgument);
  }
}

TEST(OptimizerOptions, HaveBetasBelowOne) {
  for (const double bad : {-0.1, 1.0, std::nan("")}) {
    expect_error(ErrorKind::kBadOption, fmt::format("beta1 must be from 0 to below 1, got {}", bad),
                 [&] { check(AdamOptions{.beta1 = bad}); });
    expect_error(ErrorKind::kBadOption, fmt::format("beta2 must be from 0 to below 1, got {}", bad),
                 [&] { check(AdamOptions{.beta2 = bad}); });
  }
}

TEST(OptimizerOptions, LetNesterovHaveMomentumAndNoDampening) {
  expect_error(ErrorKind::kBadOption,
               "is_nesterov needs a momentum above 0 and a dampening of 0, got momentum 0 and "
               "dampening 0",
               [] { check(SgdOptions{.is_nesterov = true}); });
  expect_error(ErrorKind::kBadOption,
               "is_nesterov needs a momentum above 0 and a dampening of 0, got momentum 0.9 and "
               "dampening 0.5",
               [] { check(SgdOptions{.momentum = 0.9, .dampening = 0.5, .is_nesterov = true}); });
}

TEST(OptimizerOptions, GiveTheNumbersOfAStep) {
  const AdamStep adam = make_step(AdamOptions{.beta1 = 0.5, .beta2 = 0.75}, 3, 2);
  EXPECT_EQ(adam.step_size, 4);
  EXPECT_EQ(adam.gradient_share, 0.5);
  EXPECT_EQ(adam.root_correction, static_cast<float>(std::sqrt(0.4375)));
  EXPECT_TRUE(make_step(SgdOptions{}, 1, 1).is_first);
  EXPECT_FALSE(make_step(SgdOptions{}, 1, 2).is_first);
}

}  // namespace
}  // namespace fanin
