#include "training/digits_parameters.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "core/expect_error.h"
#include "training/test_network.h"

namespace fanin::training {
namespace {

TEST(DigitsParameters, AreInTheOrderOfTheForwardPass) {
  std::string text;
  for (const ParameterInfo& info : digits_parameters(1024))
    text += info.name + to_string(info.shape) + (info.is_sparse ? " sparse\n" : "\n");
  EXPECT_EQ(text,
            "patch/kernel[16,32]\npatch/bias[32]\npixels/embedding[1088,32] sparse\n"
            "hidden1/kernel[320,1024]\nhidden1/bias[1024]\n"
            "hidden2/kernel[1024,1024]\nhidden2/bias[1024]\n"
            "output/kernel[1024,10]\noutput/bias[10]\n");
  EXPECT_EQ(digits_parameters(1)[kOutputKernel].name, "output/kernel");
}

TEST(DigitsParameters, NeedAWidth) {
  for (const int width : {0, -3})
    expect_error(
        ErrorKind::kBadOption,
        "A hidden layer cannot be " + std::to_string(width) + " wide: it has at least one unit",
        [&] { digits_parameters(width); });
}

TEST(InitializeDigits, FillsTheRangeOfEachParameter) {
  TestTensors tensors(24);
  initialize_digits(tensors.views(), 7);
  const auto expect_range = [&](std::size_t parameter, double bound) {
    double most = 0;
    double sum = 0;
    for (const float number : tensors[parameter]) {
      most = std::max(most, std::abs(static_cast<double>(number)));
      sum += static_cast<double>(number);
    }
    EXPECT_LE(most, bound * (1 + 1e-6));
    EXPECT_GE(most, bound * 0.97);
    EXPECT_LE(std::abs(sum / static_cast<double>(tensors[parameter].size())), bound * 0.1);
  };
  expect_range(kPatchKernel, std::sqrt(6.0 / 16));
  expect_range(kPixelEmbedding, 0.5);
  expect_range(kHidden1Kernel, std::sqrt(6.0 / 320));
  expect_range(kHidden2Kernel, std::sqrt(6.0 / 24));
  expect_range(kOutputKernel, std::sqrt(6.0 / 34));
  for (const std::size_t bias : {kPatchBias, kHidden1Bias, kHidden2Bias, kOutputBias})
    EXPECT_THAT(tensors[bias], testing::Each(0.0F));
}

TEST(InitializeDigits, FollowsFromTheSeed) {
  TestTensors tensors(8);
  TestTensors same(8);
  TestTensors others(8);
  initialize_digits(tensors.views(), 1);
  initialize_digits(same.views(), 1);
  initialize_digits(others.views(), 2);
  EXPECT_EQ(tensors.numbers(), same.numbers());
  EXPECT_NE(tensors.numbers(), others.numbers());
}

TEST(CheckDigits, SaysWhatDoesNotFit) {
  TestTensors tensors(8);
  auto views = tensors.views();
  views.pop_back();
  expect_error(ErrorKind::kBadOption,
               "There are 8 parameters, but the network has 9 parameters: give one view for each",
               [&] { check_digits(views); });

  const auto expect_refusal = [&](ErrorKind kind, const std::string& message, std::size_t parameter,
                                  const TensorView& view) {
    auto changed = tensors.views();
    changed[parameter] = view;
    expect_error(kind, message, [&] { check_digits(changed); });
  };
  std::vector<float> memory(100);
  const auto numbers = std::span(memory);
  expect_refusal(ErrorKind::kShapeMismatch,
                 "The parameter hidden1/bias has shape [2,4], not one number for each unit",
                 kHidden1Bias, TensorView::over(numbers.first(8), {2, 4}));
  expect_refusal(ErrorKind::kShapeMismatch, "The parameter hidden2/bias has shape [9], not [8]",
                 kHidden2Bias, TensorView::over(numbers.first(9), {9}));
  expect_refusal(ErrorKind::kShapeMismatch,
                 "The parameter hidden2/bias has 36 bytes, but [8] of float32 are 32", kHidden2Bias,
                 TensorView::over(numbers.first(9), {8}));
  std::vector<double> doubles(8);
  expect_refusal(ErrorKind::kDtypeMismatch,
                 "The parameter hidden2/bias is of float64: the network is of float32",
                 kHidden2Bias, TensorView::over(std::span(doubles), {8}));
  expect_refusal(ErrorKind::kBadOption,
                 "The parameter hidden2/bias begins 2 bytes past a multiple of 4: float32 numbers "
                 "lie on multiples of it",
                 kHidden2Bias,
                 {std::as_writable_bytes(numbers).subspan(2, 32), DType::kFloat32, {8}});
}

TEST(CheckGradients, LeavesThePlacesOfSparseOnesAlone) {
  TestTensors tensors(8);
  const auto infos = check_digits(tensors.views());
  auto views = tensors.views();
  views[kPixelEmbedding] = {};
  check_gradients(views, infos);
  views[kPatchBias] = {};
  expect_error(ErrorKind::kShapeMismatch, "The gradient of patch/bias has shape [], not [32]",
               [&] { check_gradients(views, infos); });
  views.resize(3);
  expect_error(
      ErrorKind::kBadOption,
      "There are 3 places of gradients, but the network has 9 parameters: give one view for each",
      [&] { check_gradients(views, infos); });
}

}  // namespace
}  // namespace fanin::training
