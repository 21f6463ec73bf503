#pragma once

#include <cstddef>
#include <type_traits>

namespace fanin {

/// A float32 matrix in the caller's memory. Rows are `stride` elements apart, so a matrix may be
/// some columns of a larger one.
template <typename Number>
struct MatrixOf {
  Number* data = nullptr;
  std::size_t row_count = 0;
  std::size_t column_count = 0;
  std::size_t stride = 0;

  operator MatrixOf<const Number>() const requires(!std::is_const_v<Number>) {
    return {data, row_count, column_count, stride};
  }
};
using Matrix = MatrixOf<float>;
using ConstMatrix = MatrixOf<const float>;

/// Where the chains of multiply-adds begin that a product is made of.
enum class Chain : bool { kFromZero, kFromTarget };

// The three products of a dense layer, on this thread, for few rows of x (a batch) and any sizes.
// Each element is a chain of multiply-adds, from 0 or from what is there, in the order of the index
// that vanishes. So its bits depend on nothing but the arguments, except that a machine without
// fused multiply-adds (x86 before AVX2) rounds products too. The result may not overlap the others;
// sizes that do not fit together are a fault of ours (assert).

/// y = x · w.
void multiply(const ConstMatrix& x, const ConstMatrix& w, Chain chain, const Matrix& y);

/// dx = dy · wᵀ.
void multiply_by_transposed(const ConstMatrix& dy, const ConstMatrix& w, Chain chain,
                            const Matrix& dx);

/// dw = xᵀ · dy.
void multiply_transposed(const ConstMatrix& x, const ConstMatrix& dy, Chain chain,
                         const Matrix& dw);

/// Whether the vectors that this machine takes multiply and add with one rounding.
bool multiply_adds_are_fused();

}  // namespace fanin
