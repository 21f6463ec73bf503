// Optimizers beside those of PyTorch: tests/golden/optimizers.json, which tools/optimizer_table.py
// writes.

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fanin/optimizer.h"

namespace fanin {
namespace {

using Json = nlohmann::json;

/// Of the largest value that a parameter has had: PyTorch fuses multiplications with additions, and
/// its square root is not always rounded to the nearest. The most in the table is 1.36 * 2^-23.
constexpr double kBound = 1.5 * 0x1p-23;

const Json& table() {
  static const Json read =
      Json::parse(std::ifstream(std::string(FANIN_GOLDEN_FOLDER) + "/optimizers.json"));
  return read;
}

std::vector<float> numbers_of(const std::string& text) {
  std::vector<float> numbers;
  std::istringstream words(text);
  for (std::uint32_t bits = 0; words >> std::hex >> bits;)
    numbers.push_back(std::bit_cast<float>(bits));
  return numbers;
}

OptimizerOptions options_of(const Json& each) {
  const Json& given = each["options"];
  if (each["optimizer"] == "sgd") {
    SgdOptions sgd;
    sgd.learning_rate = given.value("learning_rate", sgd.learning_rate);
    sgd.momentum = given.value("momentum", sgd.momentum);
    sgd.dampening = given.value("dampening", sgd.dampening);
    sgd.weight_decay = given.value("weight_decay", sgd.weight_decay);
    sgd.is_nesterov = given.value("is_nesterov", sgd.is_nesterov);
    return sgd;
  }
  AdamOptions adam;
  adam.learning_rate = given.value("learning_rate", adam.learning_rate);
  adam.beta1 = given.value("beta1", adam.beta1);
  adam.beta2 = given.value("beta2", adam.beta2);
  adam.epsilon = given.value("epsilon", adam.epsilon);
  adam.weight_decay = given.value("weight_decay", adam.weight_decay);
  return adam;
}

/// The parameters after each step, by our optimizer.
std::vector<std::vector<float>> run(const Json& each) {
  std::vector<float> weights = numbers_of(table()["start"]);
  const Shape shape = {static_cast<std::int64_t>(weights.size())};
  Optimizer optimizer({TensorView::over<float>(weights, shape)}, options_of(each));
  std::vector<std::vector<float>> steps;
  for (const Json& gradient : table()["gradients"]) {
    optimizer.apply(0, Tensor::of<float>(numbers_of(gradient), shape));
    steps.push_back(weights);
  }
  return steps;
}

TEST(TorchTable, HasAllKindsOfSteps) {
  EXPECT_EQ(numbers_of(table()["start"]).size(), 37);
  EXPECT_EQ(table()["gradients"].size(), 5);
  EXPECT_GE(table()["cases"].size(), 12);
}

TEST(TorchTable, SgdHasPyTorchsBitsWhereThatFusesNothing) {
  for (const Json& each : table()["cases"]) {
    if (each["optimizer"] != "sgd") continue;
    const auto steps = run(each);
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const auto expected = numbers_of(each["plain"][step]);
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(std::bit_cast<std::uint32_t>(steps[step][i]),
                  std::bit_cast<std::uint32_t>(expected[i]))
            << each["options"] << " step " << step + 1 << " element " << i;
    }
  }
}

TEST(TorchTable, ResultsAreWithinTheBound) {
  for (const char* form : {"plain", "fused"})
    for (const Json& each : table()["cases"]) {
      const auto steps = run(each);
      std::vector<float> largest = numbers_of(table()["start"]);
      for (std::size_t step = 0; step < steps.size(); ++step) {
        const auto expected = numbers_of(each[form][step]);
        ASSERT_EQ(expected.size(), largest.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          largest[i] = std::max(std::abs(largest[i]), std::abs(expected[i]));
          EXPECT_NEAR(steps[step][i], expected[i], kBound * static_cast<double>(largest[i]))
              << form << " " << each["optimizer"] << " " << each["options"] << " step " << step + 1
              << " element " << i;
        }
      }
    }
}

}  // namespace
}  // namespace fanin
