#include "optimizers/sparse_gradient.h"

#include <bit>

#include "core/expect_error.h"

namespace fanin {
namespace {

IndexedSlices slices(std::initializer_list<float> values, std::initializer_list<std::int32_t> rows,
                     std::optional<Shape> dense_shape = std::nullopt) {
  const auto count = static_cast<std::int64_t>(rows.size());
  return {Tensor::of<float>(values, {count, 2}), Tensor::of<std::int32_t>(rows, {count}),
          std::move(dense_shape)};
}

std::vector<float> dense(const SparseGradient& gradient, std::size_t begin, std::size_t count) {
  std::vector<float> elements(count, -1);
  gradient.write_dense(begin, elements);
  return elements;
}

TEST(SparseGradient, IsZerosAndTheSumsOfRows) {
  const SparseGradient gradient(0, {4, 2}, slices({1, 2, 10, 20, 100, 200}, {2, 0, 2}),
                                Context::process());
  EXPECT_EQ(dense(gradient, 0, 8), (std::vector<float>{10, 20, 0, 0, 101, 202, 0, 0}));
}

TEST(SparseGradient, GivesAnyRange) {
  const SparseGradient gradient(0, {4, 2}, slices({1, 2, 3, 4}, {1, 3}, Shape{4, 2}),
                                Context::process());
  const std::vector<float> whole = {0, 0, 1, 2, 0, 0, 3, 4};
  for (std::size_t begin = 0; begin <= 8; ++begin)
    for (std::size_t count = 0; begin + count <= 8; ++count)
      EXPECT_EQ(dense(gradient, begin, count),
                std::vector<float>(whole.begin() + static_cast<std::ptrdiff_t>(begin),
                                   whole.begin() + static_cast<std::ptrdiff_t>(begin + count)))
          << begin << " " << count;
}

TEST(SparseGradient, HasNoNegativeZeros) {
  const SparseGradient gradient(0, {1, 2}, slices({-0.0F, 0}, {0}), Context::process());
  EXPECT_EQ(std::bit_cast<std::uint32_t>(dense(gradient, 0, 2)[0]), 0U);
}

TEST(SparseGradient, MayHaveNoRows) {
  const SparseGradient gradient(0, {2, 2}, slices({}, {}), Context::process());
  EXPECT_EQ(dense(gradient, 0, 4), std::vector<float>(4, 0));
}

TEST(SparseGradient, MustFitToItsParameter) {
  const auto expect = [](ErrorKind kind, const std::string& message, const IndexedSlices& given,
                         const Shape& shape = {4, 2}) {
    expect_error(kind, message, [&] { SparseGradient(5, shape, given, Context::process()); });
  };
  expect(ErrorKind::kShapeMismatch,
         "the sparse gradient of parameter 5 has dense_shape [3,2], but the parameter [4,2]",
         slices({1, 2}, {0}, Shape{3, 2}));
  for (const Shape& shape : {Shape{4, 3}, Shape{4}, Shape{}})
    expect(ErrorKind::kShapeMismatch,
           "the sparse gradient of parameter 5 has values of shape [1,2], whose rows do not fit "
           "into the parameter's shape " +
               to_string(shape),
           slices({1, 2}, {0}), shape);
  expect(ErrorKind::kIndexOutOfRange,
         "the sparse gradient of parameter 5 has index 4, but the parameter has 4 rows",
         slices({1, 2, 3, 4}, {4, 0}));
  expect(ErrorKind::kIndexOutOfRange, "sparse term 0 has index -1, below 0", slices({1, 2}, {-1}));
  expect(ErrorKind::kSparseMismatch,
         "sparse term 0 has float32 indices; indices are int32 or int64",
         {Tensor::of<float>({1, 2}, {1, 2}), Tensor::of<float>({0}, {1}), std::nullopt});
  expect(ErrorKind::kDtypeMismatch,
         "the sparse gradient of parameter 5 is float64; optimizers take float32",
         {Tensor::of<double>({1, 2}, {1, 2}), Tensor::of<std::int32_t>({0}, {1}), std::nullopt});
}

}  // namespace
}  // namespace fanin
