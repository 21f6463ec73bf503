#include "fanin/optimizer.h"

#include <algorithm>
#include <bit>
#include <random>
#include <thread>

#include "core/expect_error.h"
#include "fanin/aggregate.h"

namespace fanin {
namespace {

std::vector<float> make_numbers(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(random);
  return numbers;
}

Shape flat(std::size_t count) { return {static_cast<std::int64_t>(count)}; }

TensorView view(std::vector<float>& numbers) {
  return TensorView::over<float>(numbers, flat(numbers.size()));
}

Tensor tensor(const std::vector<float>& numbers) {
  return Tensor::of<float>(numbers, flat(numbers.size()));
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> bits(numbers.size());
  std::ranges::transform(numbers, bits.begin(),
                         [](float number) { return std::bit_cast<std::uint32_t>(number); });
  return bits;
}

const OptimizerOptions kEveryKind[] = {
    SgdOptions{},
    SgdOptions{.momentum = 0.9, .dampening = 0.1, .weight_decay = 0.1},
    SgdOptions{.momentum = 0.9, .is_nesterov = true},
    AdamOptions{},
    AdamOptions{.beta1 = 0.2, .weight_decay = 0.1},
};

TEST(Optimizer, TakesThreeStepsOfSgdAsByHand) {
  std::vector<float> weights = {1, 2};
  Optimizer optimizer({view(weights)}, SgdOptions{.learning_rate = 0.5, .momentum = 0.5});
  optimizer.apply(0, tensor({2, 4}));  // momenta 2, 4
  EXPECT_EQ(weights, (std::vector<float>{0, 0}));
  optimizer.apply(0, tensor({1, 0}));  // momenta 2, 2
  EXPECT_EQ(weights, (std::vector<float>{-1, -1}));
  optimizer.set_learning_rate(1);
  EXPECT_EQ(optimizer.learning_rate(), 1);
  optimizer.apply(0, tensor({0, 1}));  // momenta 1, 2
  EXPECT_EQ(weights, (std::vector<float>{-2, -3}));
  EXPECT_EQ(optimizer.step_count(0), 3);
}

TEST(Optimizer, TakesTheFirstStepOfAdamByTheLearningRate) {
  std::vector<float> weights = {1, 1, 1};
  Optimizer optimizer({view(weights)}, AdamOptions{.learning_rate = 0.25});
  optimizer.apply(0, tensor({1e-3F, -1e6F, 0}));
  EXPECT_NEAR(weights[0], 0.75, 1e-5);
  EXPECT_NEAR(weights[1], 1.25, 1e-5);
  EXPECT_EQ(weights[2], 1);
}

TEST(Optimizer, CountsTheStepsOfEachParameter) {
  std::vector<float> a = {1};
  std::vector<float> b = {1};
  Optimizer optimizer({view(a), view(b)}, AdamOptions{});
  for (int step = 0; step < 3; ++step) optimizer.apply(0, tensor({0.5F}));
  optimizer.apply(1, tensor({0.5F}));
  EXPECT_EQ(optimizer.step_count(0), 3);
  EXPECT_EQ(optimizer.step_count(1), 1);
  std::vector<float> alone = {1};
  Optimizer other({view(alone)}, AdamOptions{});
  other.apply(0, tensor({0.5F}));
  EXPECT_EQ(b, alone);
}

TEST(Optimizer, SaysHowMuchItRemembers) {
  std::vector<float> a(10);
  std::vector<float> b(3);
  EXPECT_EQ(Optimizer({view(a), view(b)}, SgdOptions{}).state_bytes(), 0);
  EXPECT_EQ(Optimizer({view(a), view(b)}, SgdOptions{.momentum = 0.9}).state_bytes(), 13 * 4);
  EXPECT_EQ(Optimizer({view(a), view(b)}, AdamOptions{}).state_bytes(), 13 * 8);
  EXPECT_EQ(Optimizer({view(a), view(b)}, AdamOptions{}).parameter_count(), 2);
}

TEST(Optimizer, HasTheSameBitsForAnyPieces) {
  constexpr std::size_t kCount = 1003;
  for (const OptimizerOptions& options : kEveryKind) {
    std::vector<float> whole = make_numbers(kCount, 1);
    std::vector<float> pieces = whole;
    Optimizer by_whole({view(whole)}, options);
    Optimizer by_pieces({view(pieces)}, options);
    std::mt19937 random(7);
    for (std::uint32_t step = 1; step <= 4; ++step) {
      const std::vector<float> gradient = make_numbers(kCount, 10 + step);
      by_whole.apply(0, tensor(gradient));
      std::vector<std::size_t> borders = {0, kCount, 1 + random() % 1001, 1 + random() % 1001};
      std::ranges::sort(borders);
      for (const std::size_t i : {2, 0, 1}) {  // in any order
        const auto part = std::span(gradient).subspan(borders[i], borders[i + 1] - borders[i]);
        EXPECT_EQ(by_pieces.step_count(0), step - 1);
        by_pieces.apply_piece(0, borders[i], Tensor::view<float>(part, flat(part.size())));
      }
      EXPECT_EQ(by_pieces.step_count(0), step);
      ASSERT_EQ(bits_of(whole), bits_of(pieces)) << "step " << step;
    }
  }
}

TEST(Optimizer, HasTheSameBitsForAnyNumberOfThreads) {
  constexpr std::size_t kCount = (std::size_t{1} << 20) + 321;
  const std::vector<float> gradient = make_numbers(kCount, 2);
  for (const OptimizerOptions& options : kEveryKind) {
    std::vector<float> results[2];
    for (const int thread_count : {1, 3}) {
      Context context({.thread_count = thread_count});
      std::vector<float>& weights = results[thread_count / 2];
      weights = make_numbers(kCount, 1);
      Optimizer optimizer({view(weights)}, options, context);
      for (int step = 0; step < 2; ++step) optimizer.apply(0, tensor(gradient));
    }
    EXPECT_TRUE(bits_of(results[0]) == bits_of(results[1]));
  }
}

TEST(Optimizer, TakesParametersFromManyThreads) {
  constexpr std::size_t kCount = 257;
  std::vector<std::vector<float>> weights;
  for (std::uint32_t i = 0; i < 8; ++i) weights.push_back(make_numbers(kCount, i));
  std::vector<float> expected = weights[5];
  std::vector<TensorView> views;
  views.reserve(weights.size());
  for (auto& each : weights) views.push_back(view(each));
  const Tensor gradient = tensor(make_numbers(kCount, 100));
  Optimizer optimizer(std::move(views), AdamOptions{});
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < weights.size(); ++i)
      threads.emplace_back([&, i] {
        for (int step = 0; step < 20; ++step) optimizer.apply(i, gradient);
      });
  }
  Optimizer alone({view(expected)}, AdamOptions{});
  for (int step = 0; step < 20; ++step) alone.apply(0, gradient);
  EXPECT_EQ(weights[5], expected);
}

TEST(Optimizer, TakesPiecesOfOneParameterFromManyThreads) {
  constexpr std::size_t kPiece = 100;
  std::vector<float> weights = make_numbers(4 * kPiece, 1);
  std::vector<float> expected = weights;
  Optimizer optimizer({view(weights)}, AdamOptions{});
  Optimizer alone({view(expected)}, AdamOptions{});
  for (std::uint32_t step = 0; step < 20; ++step) {
    const std::vector<float> gradient = make_numbers(4 * kPiece, step);
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
          const auto part = std::span(gradient).subspan(i * kPiece, kPiece);
          optimizer.apply_piece(0, i * kPiece, Tensor::view<float>(part, flat(kPiece)));
        });
    }
    alone.apply(0, tensor(gradient));
  }
  EXPECT_EQ(optimizer.step_count(0), 20);
  EXPECT_EQ(weights, expected);
}

TEST(Optimizer, TakesASparseGradientAsTheDenseOne) {
  constexpr std::int64_t kRows = 3000;  // several blocks, whose borders cut rows
  const Shape shape = {kRows, 7};
  const IndexedSlices slices = {
      Tensor::of<float>(make_numbers(6 * 7, 3), {6, 7}),
      Tensor::of<std::int64_t>({2999, 5, 585, 5, 0, 5}, {6}),
      std::nullopt,
  };
  const std::vector<float> zeros(shape.element_count());
  const std::optional<Value> terms[] = {Value(Tensor::of<float>(zeros, shape)), Value(slices)};
  const Value dense = *aggregate(terms);
  ASSERT_TRUE(std::holds_alternative<Tensor>(dense));
  for (const OptimizerOptions& options : kEveryKind) {
    std::vector<float> by_dense = make_numbers(shape.element_count(), 1);
    std::vector<float> by_sparse = by_dense;
    Optimizer first({TensorView::over<float>(by_dense, shape)}, options);
    Optimizer second({TensorView::over<float>(by_sparse, shape)}, options);
    for (int step = 0; step < 3; ++step) {
      first.apply(0, dense);
      second.apply(0, slices);
    }
    EXPECT_TRUE(bits_of(by_dense) == bits_of(by_sparse));
  }
}

TEST(Optimizer, TakesALargeSparseGradientByThreads) {
  constexpr std::int64_t kRows = (1 << 20) + 5000;
  const Shape shape = {kRows, 1};
  const IndexedSlices slices = {
      Tensor::of<float>({1, 2, 3}, {3, 1}),
      Tensor::of<std::int64_t>({kRows - 1, 0, kRows / 2}, {3}),
      shape,
  };
  std::vector<float> weights(shape.element_count(), 10);
  Context context({.thread_count = 3});
  Optimizer optimizer({TensorView::over<float>(weights, shape)}, SgdOptions{.learning_rate = 1},
                      context);
  optimizer.apply(0, slices);
  EXPECT_EQ(weights[0], 8);
  EXPECT_EQ(weights[kRows / 2], 7);
  EXPECT_EQ(weights[kRows - 1], 9);
  EXPECT_EQ(std::ranges::count(weights, 10.0F), kRows - 3);
}

TEST(Optimizer, TakesParametersWithoutElements) {
  std::vector<float> none;
  Optimizer optimizer({view(none), view(none)}, AdamOptions{});
  optimizer.apply(0, tensor({}));
  EXPECT_EQ(optimizer.step_count(0), 1);
  EXPECT_EQ(optimizer.step_count(1), 0);
  EXPECT_EQ(Optimizer({}, SgdOptions{}).parameter_count(), 0);
}

TEST(Optimizer, ChecksWhatItIsGiven) {
  std::vector<float> weights = {1, 2, 3};
  std::vector<double> wide = {1};
  expect_error(ErrorKind::kDtypeMismatch, "parameter 1 is float64; optimizers change float32", [&] {
    Optimizer({view(weights), TensorView::over<double>(wide, {1})}, {});
  });
  expect_error(ErrorKind::kShapeMismatch, "parameter 0 has 12 bytes, but its shape [2,2] needs 16",
               [&] {
                 Optimizer({TensorView::over<float>(weights, {2, 2})}, {});
               });
  const auto last = TensorView::over<float>(std::span(weights).last(1), {1});
  expect_error(ErrorKind::kBadOption,
               "parameters 0 and 1 have memory in common; each element belongs to one parameter",
               [&] {
                 Optimizer({last, view(weights)}, {});
               });
  const auto first = TensorView::over<float>(std::span(weights).first(2), {2});
  EXPECT_EQ(Optimizer({last, first}, {}).parameter_count(), 2);
}

TEST(Optimizer, ChangesNothingByAGradientThatDoesNotFit) {
  std::vector<float> weights = {1, 2, 3};
  Optimizer optimizer({view(weights)}, SgdOptions{});
  expect_error(ErrorKind::kShapeMismatch,
               "the gradient of parameter 0 has shape [2], but the parameter [3]", [&] {
                 optimizer.apply(0, tensor({1, 2}));
               });
  expect_error(ErrorKind::kDtypeMismatch,
               "the gradient of parameter 0 is float64; optimizers take float32", [&] {
                 optimizer.apply(0, Tensor::of<double>({1, 2, 3}, {3}));
               });
  expect_error(ErrorKind::kBadOption, "parameter 1 was asked for, but there are 1, counted from 0",
               [&] {
                 optimizer.apply(1, tensor({1, 2, 3}));
               });
  expect_error(ErrorKind::kBadOption, "parameter 1 was asked for, but there are 1, counted from 0",
               [&] { optimizer.step_count(1); });
  for (const std::size_t begin : {std::size_t{2}, std::size_t{4}, ~std::size_t{0}})
    expect_error(ErrorKind::kShapeMismatch,
                 testing::HasSubstr(" is not within parameter 0, which "), [&] {
                   optimizer.apply_piece(0, begin, tensor({1, 2}));
                 });
  EXPECT_EQ(weights, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(optimizer.step_count(0), 0);

  optimizer.apply_piece(0, 1, tensor({0, 0}));
  expect_error(ErrorKind::kBadOption,
               "elements 0 to 2 of parameter 0 are to be updated, but step 1 already has 1 to 2; "
               "it ends when all 3 have been updated once",
               [&] {
                 optimizer.apply(0, tensor({1, 2, 3}));
               });
  EXPECT_EQ(weights, (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace fanin
