#include "kernels/matmul.h"

#include "kernels/targets-inl.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>

#ifndef FANIN_KERNELS_MATMUL_ONCE
#define FANIN_KERNELS_MATMUL_ONCE
namespace fanin {

/// to[m, n] = sum over k of a[m, k] * b[k, n]. Both operands are read by steps along each axis.
struct MatrixProduct {
  struct Operand {
    const float* data;
    std::size_t row_step;
    std::size_t column_step;
  };
  Operand a;
  Operand b;
  std::size_t inner_count;
  Matrix to;
  Chain chain;
};

}  // namespace fanin
#endif

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A tile of the result is held in registers: 6 rows of 2 vectors are the most that 16 registers
// hold beside the 2 vectors of b and the number of a.
using D = hn::CappedTag<float, 16>;
inline constexpr std::size_t kLanes = hn::MaxLanes(D());
inline constexpr std::size_t kTileRows = 6;
inline constexpr std::size_t kTileColumns = 2 * kLanes;

// A block of b is copied together, tile by tile, so that tiles read it without a gap: rows of b are
// often whole pages apart, and then few of their lines fit into a cache at once.
inline constexpr std::size_t kBlockRows = 128;
inline constexpr std::size_t kBlockColumns = 64;
static_assert(kBlockColumns % kTileColumns == 0);
using Block = std::array<float, kBlockRows * kBlockColumns>;

/// Some rows of b, and the columns of one tile: [row][kTileColumns]. Columns that b has not are 0.
void pack_tile(const MatrixProduct::Operand& b, std::size_t row_count, std::size_t column_count,
               float* HWY_RESTRICT packed) {
  const D d;
  if (b.column_step == 1 && column_count == kTileColumns) {
    for (std::size_t k = 0; k < row_count; ++k, packed += kTileColumns) {
      const float* const from = b.data + k * b.row_step;
      hn::Store(hn::LoadU(d, from), d, packed);
      hn::Store(hn::LoadU(d, from + kLanes), d, packed + kLanes);
    }
    return;
  }
  if (column_count < kTileColumns) std::fill_n(packed, row_count * kTileColumns, 0.0F);
  for (std::size_t n = 0; n < column_count; ++n)
    for (std::size_t k = 0; k < row_count; ++k)
      packed[k * kTileColumns + n] = b.data[k * b.row_step + n * b.column_step];
}

/// Continues the chains of `kRows` rows of a tile at `to`, by `inner_count` links.
template <std::size_t kRows>
HWY_NOINLINE void run_tile(const MatrixProduct::Operand& a, const float* HWY_RESTRICT packed,
                           std::size_t inner_count, float* HWY_RESTRICT to, std::size_t to_stride,
                           bool starts_at_zero) {
  const D d;
  using V = hn::Vec<D>;
  V left[kRows];
  V right[kRows];
  HWY_UNROLL(6)
  for (std::size_t m = 0; m < kRows; ++m) {
    left[m] = starts_at_zero ? hn::Zero(d) : hn::LoadU(d, to + m * to_stride);
    right[m] = starts_at_zero ? hn::Zero(d) : hn::LoadU(d, to + m * to_stride + kLanes);
  }
  const float* from = a.data;
  const std::size_t row_step = a.row_step;
  const std::size_t column_step = a.column_step;
  for (std::size_t k = 0; k < inner_count; ++k) {
    const V b_left = hn::Load(d, packed);
    const V b_right = hn::Load(d, packed + kLanes);
    HWY_UNROLL(6)
    for (std::size_t m = 0; m < kRows; ++m) {
      const V factor = hn::Set(d, from[m * row_step]);
      left[m] = hn::MulAdd(factor, b_left, left[m]);
      right[m] = hn::MulAdd(factor, b_right, right[m]);
    }
    packed += kTileColumns;
    from += column_step;
  }
  HWY_UNROLL(6)
  for (std::size_t m = 0; m < kRows; ++m) {
    hn::StoreU(left[m], d, to + m * to_stride);
    hn::StoreU(right[m], d, to + m * to_stride + kLanes);
  }
}

using RunTile = void (*)(const MatrixProduct::Operand& a, const float* HWY_RESTRICT packed,
                         std::size_t inner_count, float* HWY_RESTRICT to, std::size_t to_stride,
                         bool starts_at_zero);
inline constexpr RunTile kRunTile[kTileRows] = {run_tile<1>, run_tile<2>, run_tile<3>,
                                                run_tile<4>, run_tile<5>, run_tile<6>};

/// The same for a tile that reaches beyond the last column: by way of a whole one.
void run_cut_tile(RunTile run, const MatrixProduct::Operand& a, const float* packed,
                  std::size_t inner_count, const Matrix& to, bool starts_at_zero) {
  std::array<float, kTileRows* kTileColumns> whole = {};
  for (std::size_t m = 0; m < to.row_count && !starts_at_zero; ++m)
    std::copy_n(to.data + m * to.stride, to.column_count, whole.data() + m * kTileColumns);
  run(a, packed, inner_count, whole.data(), kTileColumns, starts_at_zero);
  for (std::size_t m = 0; m < to.row_count; ++m)
    std::copy_n(whole.data() + m * kTileColumns, to.column_count, to.data + m * to.stride);
}

/// Continues the chains of all rows of some columns, by the links of one block of b.
void run_block(const MatrixProduct::Operand& a, const float* block, std::size_t inner_count,
               const Matrix& to, bool starts_at_zero) {
  for (std::size_t m = 0; m < to.row_count; m += kTileRows) {
    const std::size_t rows = std::min(kTileRows, to.row_count - m);
    const RunTile run = kRunTile[rows - 1];
    const MatrixProduct::Operand a_rows{a.data + m * a.row_step, a.row_step, a.column_step};
    for (std::size_t n = 0; n < to.column_count; n += kTileColumns) {
      const std::size_t columns = std::min(kTileColumns, to.column_count - n);
      const float* const packed = block + n * inner_count;
      float* const at = to.data + m * to.stride + n;
      if (columns == kTileColumns)
        run(a_rows, packed, inner_count, at, to.stride, starts_at_zero);
      else
        run_cut_tile(run, a_rows, packed, inner_count, {at, rows, columns, to.stride},
                     starts_at_zero);
    }
  }
}

void run_product(const MatrixProduct& product) {
  const auto& [a, b, inner_count, to, chain] = product;
  alignas(64) Block block;
  for (std::size_t n = 0; n < to.column_count; n += kBlockColumns) {
    const std::size_t columns = std::min(kBlockColumns, to.column_count - n);
    // At least once, for results that are 0 because nothing is added up.
    std::size_t k = 0;
    do {
      const std::size_t links = std::min(kBlockRows, inner_count - k);
      for (std::size_t tile = 0; tile < columns; tile += kTileColumns)
        pack_tile({b.data + k * b.row_step + (n + tile) * b.column_step, b.row_step, b.column_step},
                  links, std::min(kTileColumns, columns - tile), block.data() + tile * links);
      run_block({a.data + k * a.column_step, a.row_step, a.column_step}, block.data(), links,
                {to.data + n, to.row_count, columns, to.stride},
                k == 0 && chain == Chain::kFromZero);
      k += links;
    } while (k < inner_count);
  }
}

bool is_fused() { return HWY_NATIVE_FMA != 0; }

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin {
namespace {

HWY_EXPORT(run_product);
HWY_EXPORT(is_fused);

void run(const MatrixProduct& product) { HWY_DYNAMIC_DISPATCH(run_product)(product); }

MatrixProduct::Operand as_it_is(const ConstMatrix& matrix) {
  return {.data = matrix.data, .row_step = matrix.stride, .column_step = 1};
}

MatrixProduct::Operand transposed(const ConstMatrix& matrix) {
  return {.data = matrix.data, .row_step = 1, .column_step = matrix.stride};
}

}  // namespace

void multiply(const ConstMatrix& x, const ConstMatrix& w, Chain chain, const Matrix& y) {
  assert(x.row_count == y.row_count && x.column_count == w.row_count &&
         w.column_count == y.column_count);
  run({as_it_is(x), as_it_is(w), x.column_count, y, chain});
}

void multiply_by_transposed(const ConstMatrix& dy, const ConstMatrix& w, Chain chain,
                            const Matrix& dx) {
  assert(dy.row_count == dx.row_count && dy.column_count == w.column_count &&
         w.row_count == dx.column_count);
  run({as_it_is(dy), transposed(w), dy.column_count, dx, chain});
}

void multiply_transposed(const ConstMatrix& x, const ConstMatrix& dy, Chain chain,
                         const Matrix& dw) {
  assert(x.row_count == dy.row_count && x.column_count == dw.row_count &&
         dy.column_count == dw.column_count);
  run({transposed(x), as_it_is(dy), x.row_count, dw, chain});
}

bool multiply_adds_are_fused() { return HWY_DYNAMIC_DISPATCH(is_fused)(); }

}  // namespace fanin
#endif
