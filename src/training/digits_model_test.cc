#include "training/digits_model.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/expect_error.h"
#include "training/slow_digits_model.h"
#include "training/test_network.h"

namespace fanin::training {
namespace {

using testing::ElementsAre;

constexpr AggregationMethod kMethods[] = {
    AggregationMethod::kAddN, AggregationMethod::kExperimentalTree,
    AggregationMethod::kExperimentalAccumulateN, AggregationMethod::kAuto};

/// A network, with biases that are not 0, so that units are on both sides of it.
struct Network {
  explicit Network(std::int64_t width, std::size_t batch_size = 8,
                   AggregationMethod method = AggregationMethod::kAuto)
      : parameters(width), gradients(width), model(digits, parameters.views(), batch_size, method) {
    initialize_digits(parameters.views(), 5);
    for (const std::size_t bias : {kPatchBias, kHidden1Bias, kHidden2Bias, kOutputBias})
      for (std::size_t i = 0; i < parameters[bias].size(); ++i)
        parameters[bias][i] = 0.1F * static_cast<float>(static_cast<int>(i % 5) - 2);
  }

  /// All gradients, as dense ones. `then` is called after each.
  std::vector<std::vector<float>> differentiate(std::span<const std::size_t> images,
                                                const std::function<void(std::size_t)>& then = {}) {
    std::vector<std::vector<float>> dense(kDigitsParameterCount);
    model.forward(images);
    model.backward(gradients.views(), [&](std::size_t parameter, const Value& gradient) {
      dense[parameter] = to_dense(gradient);
      if (then) then(parameter);
    });
    return dense;
  }

  Digits digits = load_digits();
  TestTensors parameters;
  TestTensors gradients;
  DigitsModel model;
};

std::vector<Numbers> in_float64(const TestTensors& tensors) {
  std::vector<Numbers> numbers;
  for (const auto& each : tensors.numbers()) numbers.emplace_back(each.begin(), each.end());
  return numbers;
}

/// By differences of the slow network's loss.
void expect_gradients(Network& network, std::span<const std::size_t> images) {
  const auto gradients = network.differentiate(images);
  auto parameters = in_float64(network.parameters);
  const auto loss_with = [&](double& number, double change) {
    const double before = std::exchange(number, number + change);
    const double loss = slow_loss(network.digits, images, parameters);
    number = before;
    return loss;
  };
  constexpr double kStep = 1e-5;
  for (std::size_t p = 0; p < kDigitsParameterCount; ++p) {
    ASSERT_EQ(gradients[p].size(), parameters[p].size());
    // Those that are largest, and some of the others.
    std::vector<std::size_t> order(parameters[p].size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto is_larger = [&](std::size_t a, std::size_t b) {
      return std::abs(gradients[p][a]) > std::abs(gradients[p][b]);
    };
    std::ranges::stable_sort(order, is_larger);
    const double largest = std::abs(static_cast<double>(gradients[p][order[0]]));
    EXPECT_GT(largest, 1e-3) << p;
    const std::size_t stride = order.size() / 24 + 1;
    for (std::size_t i = 0; i < order.size(); i += i < 16 ? 1 : stride) {
      double& number = parameters[p][order[i]];
      const double slope = (loss_with(number, kStep) - loss_with(number, -kStep)) / (2 * kStep);
      EXPECT_NEAR(static_cast<double>(gradients[p][order[i]]), slope, 2e-5 * (largest + 1e-2))
          << "parameter " << p << " element " << order[i];
    }
  }
}

TEST(DigitsModel, HasTheLossOfTheSlowOne) {
  Network network(13);
  const std::vector<std::size_t> images = {0, 3, 1796, 77, 12};
  const Score score = network.model.forward(images);
  EXPECT_NEAR(score.loss, slow_loss(network.digits, images, in_float64(network.parameters)), 1e-5);
  EXPECT_EQ(score.image_count, 5U);
  std::size_t correct_count = 0;
  for (const std::size_t image : images) {
    const auto logits = slow_logits(network.digits, image, in_float64(network.parameters));
    if (std::ranges::max_element(logits) - logits.begin() == network.digits.labels[image])
      ++correct_count;
  }
  EXPECT_EQ(score.correct_count, correct_count);
}

TEST(DigitsModel, HasGradientsOfALargerBatch) {
  Network network(8);
  const std::vector<std::size_t> images = {4, 100, 700};
  expect_gradients(network, images);
}

TEST(DigitsModel, HasGradientsOfOneImage) {
  Network network(8, 1);
  const std::vector<std::size_t> images = {1234};
  expect_gradients(network, images);
}

TEST(DigitsModel, HandsGradientsOverFromTheLastToTheFirstInTheirPlaces) {
  Network network(8);
  const std::vector<std::size_t> images = {1, 2};
  network.model.forward(images);
  std::vector<std::size_t> order;
  network.model.backward(network.gradients.views(),
                         [&](std::size_t parameter, const Value& gradient) {
                           order.push_back(parameter);
                           const auto* const dense = std::get_if<Tensor>(&gradient);
                           ASSERT_EQ(dense == nullptr, parameter == kPixelEmbedding);
                           if (dense == nullptr) return;
                           const TensorView& place = network.gradients.views()[parameter];
                           EXPECT_EQ(dense->bytes().data(), place.bytes.data());
                           EXPECT_EQ(dense->shape(), place.shape);
                         });
  EXPECT_THAT(order, ElementsAre(8, 7, 6, 5, 4, 3, 2, 1, 0));
}

TEST(DigitsModel, DoesNotReadAParameterAfterItsGradient) {
  const std::vector<std::size_t> images = {1, 2, 3};
  Network untouched(8);
  Network network(8);
  const auto spoil = [&](std::size_t parameter) {
    std::ranges::fill(network.parameters[parameter], std::numeric_limits<float>::quiet_NaN());
  };
  EXPECT_EQ(network.differentiate(images, spoil), untouched.differentiate(images));
}

TEST(DigitsModel, HasARowOfTheEmbeddingsGradientForEachTokenWithInk) {
  Network network(8);
  const std::vector<std::size_t> images = {10, 10, 20};
  network.model.forward(images);
  std::optional<IndexedSlices> sparse;
  network.model.backward(network.gradients.views(),
                         [&](std::size_t parameter, const Value& gradient) {
                           if (parameter == kPixelEmbedding)
                             sparse = std::get<IndexedSlices>(gradient);
                         });
  std::vector<std::int32_t> tokens;
  for (const std::size_t image : images)
    for (std::size_t p = 0; p < kPixelCount; ++p)
      if (const int ink = network.digits.image(image)[p]; ink > 0)
        tokens.push_back(static_cast<std::int32_t>(p) * 17 + ink);
  EXPECT_EQ(sparse->indices.to_vector<std::int32_t>(), tokens);
  EXPECT_EQ(sparse->values.shape(), (Shape{static_cast<std::int64_t>(tokens.size()), 32}));
  EXPECT_EQ(sparse->dense_shape, (Shape{1088, 32}));
}

TEST(DigitsModel, SumsTheTermsOfThePatchesByEveryMethod) {
  const std::vector<std::size_t> images = {3, 14, 15, 92, 65};
  Network by_add_n(8, 5, AggregationMethod::kAddN);
  const auto wanted = by_add_n.differentiate(images);
  for (const AggregationMethod method : kMethods) {
    Network network(8, 5, method);
    const auto gradients = network.differentiate(images);
    for (std::size_t p = 0; p < kDigitsParameterCount; ++p)
      for (std::size_t i = 0; i < wanted[p].size(); ++i)
        ASSERT_NEAR(gradients[p][i], wanted[p][i], p <= kPatchBias ? 1e-6 : 0) << name(method);
  }
}

TEST(DigitsModel, GivesTheSameBitsTwiceAndInABatchOfAnySize) {
  const std::vector<std::size_t> images = {8, 9, 10, 11};
  Network network(16);
  const auto first = network.differentiate(images);
  EXPECT_EQ(network.differentiate(images), first);
  Network larger(16, 40);
  larger.differentiate(std::vector<std::size_t>(33, 7));
  EXPECT_EQ(larger.differentiate(images), first);
}

TEST(DigitsModel, EvaluatesInBatches) {
  Network network(16, 7);
  const auto images = std::span(network.digits.test).first(30);
  Network at_once(16, 30);
  const Score wanted = at_once.model.forward(images);
  const Score score = network.model.evaluate(images);
  EXPECT_NEAR(score.loss, wanted.loss, 1e-12);
  EXPECT_EQ(score.correct_count, wanted.correct_count);
  EXPECT_EQ(score.image_count, 30U);
  EXPECT_EQ(network.model.evaluate({}).image_count, 0U);
}

TEST(DigitsModel, SaysWhatItCannotRun) {
  Network network(8, 3);
  const auto none = [](std::size_t, const Value&) {};
  const auto go_back = [&] { network.model.backward(network.gradients.views(), none); };
  const std::string nothing =
      "There is nothing to go back from: call forward() first, and backward() before evaluate()";
  expect_error(ErrorKind::kBadOption, nothing, go_back);
  const std::vector<std::size_t> images = {0, 1, 2, 3};
  const std::span<const std::size_t> list = images;
  network.model.forward(list.first(2));
  go_back();
  network.model.evaluate(images);
  expect_error(ErrorKind::kBadOption, nothing, go_back);

  expect_error(ErrorKind::kBadOption,
               "A batch of 4 images cannot run: this network takes 1 to 3 at once",
               [&] { network.model.forward(images); });
  expect_error(ErrorKind::kBadOption,
               "A batch of 0 images cannot run: this network takes 1 to 3 at once",
               [&] { network.model.forward({}); });
  const std::vector<std::size_t> beyond = {1797};
  expect_error(ErrorKind::kIndexOutOfRange, "There is no image 1797: the set has 1797, from 0 on",
               [&] { network.model.forward(beyond); });
  expect_error(ErrorKind::kBadOption, "A batch cannot have 0 images: it has at least one",
               [&] { Network(8, 0); });
  expect_error(ErrorKind::kBadMethod, testing::HasSubstr("method"),
               [&] { Network(8, 1, AggregationMethod{17}); });
}

TEST(DigitsModel, Learns) {
  Network network(32, 48);
  initialize_digits(network.parameters.views(), 1);
  TestTensors velocities(32);
  const auto learn = [&](std::size_t parameter, const Value& gradient) {
    const auto slope = to_dense(gradient);
    for (std::size_t i = 0; i < slope.size(); ++i) {
      float& velocity = velocities[parameter][i];
      velocity = 0.9F * velocity + slope[i];
      network.parameters[parameter][i] -= 0.1F * velocity;
    }
  };
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
    for (const auto& batch : batches(network.digits.train, 1, epoch, 48)) {
      network.model.forward(batch);
      network.model.backward(network.gradients.views(), learn);
    }
  const Score score = network.model.evaluate(network.digits.test);
  EXPECT_GE(score.correct_count, 320U);
  EXPECT_LT(score.loss, 0.35);
}

}  // namespace
}  // namespace fanin::training
