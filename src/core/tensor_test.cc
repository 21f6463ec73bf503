#include "fanin/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/expect_error.h"
#include "fanin/context.h"

namespace fanin {
namespace {

TEST(Tensor, WithoutArgumentsHasNoElements) {
  const Tensor tensor;
  EXPECT_EQ(tensor.dtype(), DType::kFloat32);
  EXPECT_EQ(tensor.shape(), Shape({0}));
  EXPECT_EQ(tensor.element_count(), 0U);
  EXPECT_TRUE(tensor.bytes().empty());
  EXPECT_TRUE(tensor.to_vector<float>().empty());
}

TEST(Tensor, OfCopiesAndViewBorrows) {
  std::vector<std::int32_t> elements = {1, 2, 3, 4};
  const auto copied = Tensor::of<std::int32_t>(elements, {2, 2});
  const auto viewed = Tensor::view<std::int32_t>(elements, {4}, parse_device("/gpu:1"));
  elements[0] = 9;
  EXPECT_EQ(copied.to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(viewed.to_vector<std::int32_t>(), (std::vector<std::int32_t>{9, 2, 3, 4}));
  EXPECT_EQ(viewed.bytes().data(), std::as_bytes(std::span(elements)).data());
  EXPECT_EQ(to_string(viewed.device()), "/job:localhost/replica:0/task:0/device:GPU:1");
}

TEST(Tensor, CopiesShareTheBytes) {
  const auto one = Tensor::of<float>({1.0F, 2.0F}, {2});
  const Tensor two = one;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(one.bytes().data(), two.bytes().data());
  EXPECT_EQ(one.reshaped({1, 2, 1}).bytes().data(), one.bytes().data());
  EXPECT_EQ(one.reshaped({1, 2, 1}).shape(), Shape({1, 2, 1}));
}

TEST(Tensor, KeepsItsBufferAlive) {
  Context context;
  {
    Buffer buffer = context.buffers().allocate(8);
    std::memset(buffer.bytes().data(), 1, 8);
    const Tensor tensor(std::move(buffer), DType::kInt8, {8});
    EXPECT_EQ(context.memory().now_bytes, 8U);
    EXPECT_EQ(tensor.to_vector<std::int8_t>(), std::vector<std::int8_t>(8, 1));
  }
  EXPECT_EQ(context.memory().now_bytes, 0U);
}

TEST(Tensor, MayBeAScalarOrEmpty) {
  EXPECT_EQ(Tensor::of<double>({2.5}, {}).to_vector<double>(), std::vector<double>{2.5});
  EXPECT_EQ(Tensor::of<double>({}, {3, 0}).element_count(), 0U);
}

TEST(Tensor, RefusesBytesThatDoNotFitTheShape) {
  const std::vector<float> three(3);
  expect_error(ErrorKind::kShapeMismatch,
               "12 bytes were given for a float32 tensor of shape [2,2], which has 16 bytes", [&] {
                 Tensor::view<float>(three, {2, 2});
               });
  expect_error(ErrorKind::kShapeMismatch,
               "12 bytes were given for a float32 tensor of shape [], which has 4 bytes",
               [&] { Tensor::of<float>(three, {}); });
  expect_error(ErrorKind::kShapeMismatch,
               "5 bytes were given for a int64 tensor of shape [1], which has 8 bytes",
               [] { Tensor(Context::process().buffers().allocate(5), DType::kInt64, {1}); });
  expect_error(ErrorKind::kBadOption, "77 is not the number of a dtype",
               [&] { Tensor::view(std::as_bytes(std::span(three)), DType{77}, {12}); });
}

TEST(Tensor, RefusesAnotherTypeOrAnotherCount) {
  const auto tensor = Tensor::of<float>({1, 2, 3, 4}, {2, 2});
  expect_error(ErrorKind::kDtypeMismatch, "a float32 tensor was read as int32",
               [&] { tensor.to_vector<std::int32_t>(); });
  expect_error(ErrorKind::kShapeMismatch,
               "a tensor of shape [2,2] has 4 elements and cannot take shape [3], which has 3",
               [&] { tensor.reshaped({3}); });
}

TEST(TensorView, IsOverAnyElements) {
  std::vector<BFloat16> elements(6);
  const auto view = TensorView::over<BFloat16>(elements, {2, 3});
  EXPECT_EQ(view.dtype, DType::kBFloat16);
  EXPECT_EQ(view.bytes.size(), 12U);
  EXPECT_EQ(view.shape, Shape({2, 3}));
}

}  // namespace
}  // namespace fanin
