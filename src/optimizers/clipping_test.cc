#include "fanin/clipping.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/expect_error.h"

namespace fanin {
namespace {

std::vector<float> make_numbers(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = std::sin(static_cast<float>(i)) * std::exp(static_cast<float>(i % 17));
  return numbers;
}

TensorView view(std::vector<float>& numbers) {
  return TensorView::over<float>(numbers, {static_cast<std::int64_t>(numbers.size())});
}

TEST(GlobalNorm, IsTheRootOfAllSquares) {
  const Tensor gradients[] = {Tensor::of<float>({3, 0}, {2}), Tensor::of<float>({-4}, {1}),
                              Tensor()};
  EXPECT_EQ(global_norm(gradients), 5);
  EXPECT_EQ(global_norm({}), 0);
  const Tensor large[] = {Tensor::of<float>({3e38F, 3e38F}, {2})};
  EXPECT_NEAR(global_norm(large), 3e38 * std::sqrt(2), 1e32);
}

TEST(GlobalNorm, HasTheSameBitsForAnyNumberOfThreads) {
  for (const std::size_t count :
       {std::size_t{4097}, (std::size_t{1} << 20) + 1, (std::size_t{3} << 20) + 12345}) {
    const std::vector<float> numbers = make_numbers(count);
    const Tensor gradients[] = {Tensor::view<float>(numbers, {static_cast<std::int64_t>(count)})};
    Context one({.thread_count = 1});
    Context three({.thread_count = 3});
    const double norm = global_norm(gradients, one);
    EXPECT_EQ(norm, global_norm(gradients, three)) << count;
    EXPECT_EQ(norm, global_norm(gradients)) << count;
    long double squares = 0;  // in float64, one after the other, so many would err more than ours
    for (const float number : numbers) squares += static_cast<long double>(number) * number;
    EXPECT_NEAR(norm, static_cast<double>(std::sqrt(squares)), 1e-13 * norm) << count;
  }
}

TEST(GlobalNorm, RefusesOtherTypes) {
  const Tensor gradients[] = {Tensor(), Tensor::of<double>({1}, {1})};
  expect_error(ErrorKind::kDtypeMismatch, "gradient 1 is float64; norms are of float32",
               [&] { global_norm(gradients); });
}

TEST(ClipByGlobalNorm, ScalesAllByOneFactor) {
  std::vector<float> a = {3, 0};
  std::vector<float> b = {-4};
  const TensorView views[] = {view(a), view(b)};
  EXPECT_EQ(clip_by_global_norm(views, 1), 5);
  const auto factor = static_cast<float>(1 / (5 + 1e-6));
  EXPECT_EQ(a, (std::vector<float>{3 * factor, 0}));
  EXPECT_EQ(b, (std::vector<float>{-4 * factor}));
}

TEST(ClipByGlobalNorm, LeavesSmallOnesAlone) {
  std::vector<float> a = {3, 4};
  const TensorView views[] = {view(a)};
  for (const double max_norm : {5.1, 1e300, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(clip_by_global_norm(views, max_norm), 5);
  EXPECT_EQ(a, (std::vector<float>{3, 4}));
  EXPECT_EQ(clip_by_global_norm({}, 1), 0);
}

TEST(ClipByGlobalNorm, ScalesLargeOnesByAnyNumberOfThreads) {
  std::vector<float> numbers = make_numbers((std::size_t{1} << 20) + 77);
  const std::vector<float> before = numbers;
  const TensorView views[] = {view(numbers)};
  Context three({.thread_count = 3});
  const double norm = clip_by_global_norm(views, 2, three);
  const auto factor = static_cast<float>(2 / (norm + 1e-6));
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], before[i] * factor) << i;
}

TEST(ClipByGlobalNorm, ShowsWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> a = {infinity, 1};
  const TensorView views[] = {view(a)};
  EXPECT_EQ(clip_by_global_norm(views, 1), infinity);
  EXPECT_TRUE(std::isnan(a[0]));
  EXPECT_EQ(a[1], 0);
  a[1] = 1;
  EXPECT_TRUE(std::isnan(clip_by_global_norm(views, 1)));
  EXPECT_TRUE(std::isnan(a[1]));
}

TEST(ClipByGlobalNorm, ChecksEverythingBeforeItWrites) {
  std::vector<float> a = {3, 4};
  std::vector<double> b = {1};
  const TensorView views[] = {view(a), TensorView::over<double>(b, {1})};
  expect_error(ErrorKind::kDtypeMismatch, "gradient 1 is float64; norms are of float32",
               [&] { clip_by_global_norm(views, 1); });
  const TensorView short_views[] = {view(a), TensorView::over<float>(a, {3})};
  expect_error(ErrorKind::kShapeMismatch, "gradient 1 has 8 bytes, but its shape [3] needs 12",
               [&] { clip_by_global_norm(short_views, 1); });
  for (const double max_norm : {0.0, -1.0, std::nan("")})
    expect_error(ErrorKind::kBadOption, testing::HasSubstr("max_norm must be above 0, got "), [&] {
      clip_by_global_norm({&views[0], 1}, max_norm);
    });
  EXPECT_EQ(a, (std::vector<float>{3, 4}));
}

}  // namespace
}  // namespace fanin
