#include "optimizers/optimizer_options.h"

#include <cmath>
#include <limits>

#include "core/require.h"

namespace fanin {
namespace {

void check_number(const char* name, double value) {
  require(value >= 0 && value <= std::numeric_limits<float>::max(), ErrorKind::kBadOption,
          "{} must be 0 or more and within float32, got {}", name, value);
}

void check_beta(const char* name, double value) {
  require(value >= 0 && value < 1, ErrorKind::kBadOption, "{} must be from 0 to below 1, got {}",
          name, value);
}

void check_options(const SgdOptions& options) {
  check_number("learning_rate", options.learning_rate);
  check_number("momentum", options.momentum);
  check_number("dampening", options.dampening);
  check_number("weight_decay", options.weight_decay);
  require(!options.is_nesterov || (options.momentum > 0 && options.dampening == 0),
          ErrorKind::kBadOption,
          "is_nesterov needs a momentum above 0 and a dampening of 0, got momentum {} and "
          "dampening {}",
          options.momentum, options.dampening);
}

void check_options(const AdamOptions& options) {
  check_number("learning_rate", options.learning_rate);
  check_beta("beta1", options.beta1);
  check_beta("beta2", options.beta2);
  check_number("epsilon", options.epsilon);
  check_number("weight_decay", options.weight_decay);
}

}  // namespace

void check(const OptimizerOptions& options) {
  std::visit([](const auto& each) { check_options(each); }, options);
}

void check_learning_rate(double learning_rate) { check_number("learning_rate", learning_rate); }

double learning_rate_of(const OptimizerOptions& options) {
  return std::visit([](const auto& each) { return each.learning_rate; }, options);
}

std::size_t state_array_count(const OptimizerOptions& options) {
  const auto* sgd = std::get_if<SgdOptions>(&options);
  if (sgd == nullptr) return 2;
  return sgd->momentum > 0 ? 1 : 0;
}

SgdStep make_step(const SgdOptions& options, double learning_rate, std::int64_t step) {
  return {.learning_rate = static_cast<float>(learning_rate),
          .momentum = static_cast<float>(options.momentum),
          .gradient_share = static_cast<float>(1 - options.dampening),
          .weight_decay = static_cast<float>(options.weight_decay),
          .is_nesterov = options.is_nesterov,
          .is_first = step == 1};
}

AdamStep make_step(const AdamOptions& options, double learning_rate, std::int64_t step) {
  const auto power = static_cast<double>(step);
  return {.step_size = static_cast<float>(learning_rate / (1 - std::pow(options.beta1, power))),
          .gradient_share = static_cast<float>(1 - options.beta1),
          .square_decay = static_cast<float>(options.beta2),
          .square_share = static_cast<float>(1 - options.beta2),
          .root_correction = static_cast<float>(std::sqrt(1 - std::pow(options.beta2, power))),
          .epsilon = static_cast<float>(options.epsilon),
          .weight_decay = static_cast<float>(options.weight_decay)};
}

}  // namespace fanin
