#pragma once

// For tests: a fold as one would write it first, element by element.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/fold.h"
#include "kernels/quotient.h"

namespace fanin::reference {

template <typename T>
T load(const std::byte* from, std::size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store(std::byte* to, std::size_t index, T value) {
  std::memcpy(to + index * sizeof(T), &value, sizeof(T));
}

/// sum / divisor by long division, digit by digit, rounded to `precision` binary digits.
inline double quotient(Int128 sum, std::int64_t divisor, int precision) {
  const UInt128 n = static_cast<std::uint64_t>(divisor);
  const UInt128 magnitude = sum < 0 ? -static_cast<UInt128>(sum) : static_cast<UInt128>(sum);
  UInt128 remainder = 0;
  std::uint64_t digits = 0;
  int taken = 0;
  for (int bit = 127; bit >= -256; --bit) {
    remainder = remainder << 1 | (bit >= 0 ? magnitude >> bit & 1 : 0);
    const bool digit = remainder >= n;
    if (digit) remainder -= n;
    if (taken > 0 || digit) {
      digits = digits << 1 | (digit ? 1 : 0);
      ++taken;
    }
    if (taken != precision + 1) continue;
    const UInt128 rest = bit > 0 ? magnitude & ((UInt128{1} << bit) - 1) : 0;
    const bool is_half = (digits & 1) != 0;
    const bool is_more = remainder != 0 || rest != 0;
    digits >>= 1;
    if (is_half && (is_more || (digits & 1) != 0)) ++digits;
    const double value = std::ldexp(static_cast<double>(digits), bit + 1);
    return sum < 0 ? -value : value;
  }
  return 0;
}

template <typename T>
T combine(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::kMin:
    case ReduceOp::kMax: {
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a) || std::isnan(b)) return a + b;
        if (a == b) return std::signbit(a) == (op == ReduceOp::kMin) ? a : b;
      }
      return (a < b) == (op == ReduceOp::kMin) ? a : b;
    }
    case ReduceOp::kProd:
      if constexpr (std::is_same_v<T, Int128>)
        return static_cast<T>(static_cast<UInt128>(a) * static_cast<UInt128>(b));
      else
        return a * b;
    default:
      return static_cast<T>(a + b);
  }
}

/// One element of the fold in type T, loaded by `load_cell(operand)`.
template <typename T, typename LoadCell, typename Round>
T fold_element(const Arithmetic& arithmetic, const Fold& fold, LoadCell load_cell, Round round) {
  if (!fold.joins.empty()) {
    std::vector<T> stack;
    for (std::size_t s = 0; s < fold.sources.size(); ++s) {
      stack.push_back(load_cell(fold.sources[s]));
      for (int join = 0; join < fold.joins[s]; ++join) {
        const T last = stack.back();
        stack.pop_back();
        stack.back() = round(combine(arithmetic.op, stack.back(), last));
      }
    }
    return stack.front();
  }
  const std::size_t group_count =
      fold.group_sizes.empty() ? fold.sources.size() : fold.group_sizes.size();
  T total{};
  std::size_t source = 0;
  for (std::size_t g = 0; g < group_count; ++g) {
    T group = load_cell(fold.sources[source++]);
    const int size = fold.group_sizes.empty() ? 1 : fold.group_sizes[g];
    for (int i = 1; i < size; ++i)
      group = round(combine(arithmetic.op, group, load_cell(fold.sources[source++])));
    total = g == 0 ? group : round(combine(arithmetic.op, total, group));
  }
  return total;
}

template <typename Input, typename Partial>
void fold_floats(const Arithmetic& arithmetic, const Fold& fold, std::byte* target) {
  const auto round = [&](Partial value) {
    return arithmetic.rounds_each_step ? static_cast<Partial>(Input(value)) : value;
  };
  for (std::size_t i = 0; i < fold.count; ++i) {
    const auto load_cell = [&](const Operand& operand) {
      return operand.cell == Cell::kInput ? static_cast<Partial>(load<Input>(operand.data, i))
                                          : load<Partial>(operand.data, i);
    };
    const Partial sum = fold_element<Partial>(arithmetic, fold, load_cell, round);
    if (fold.target_cell == Cell::kPartial)
      store(target, i, sum);
    else
      store(target, i, Input(sum / static_cast<Partial>(arithmetic.divisor)));
  }
}

/// Exact, in a type of 128 bits, unless products overflow: then wrapped along the way.
template <typename Input>
void fold_integers(const Arithmetic& arithmetic, const Fold& fold, std::byte* target) {
  const bool is_mean = arithmetic.op == ReduceOp::kMean;
  const auto round = [&](Int128 value) {
    return is_mean ? value : static_cast<Int128>(static_cast<Input>(value));
  };
  for (std::size_t i = 0; i < fold.count; ++i) {
    const auto load_cell = [&](const Operand& operand) -> Int128 {
      if (operand.cell == Cell::kInput || !is_mean) return load<Input>(operand.data, i);
      if (sizeof(Input) == 8) return load<Int128>(operand.data, i);
      return load<std::int64_t>(operand.data, i);
    };
    const Int128 sum = fold_element<Int128>(arithmetic, fold, load_cell, round);
    if (!is_mean)
      store(target, i, static_cast<Input>(sum));
    else if (fold.target_cell == Cell::kPartial && sizeof(Input) == 8)
      store(target, i, sum);
    else if (fold.target_cell == Cell::kPartial)
      store(target, i, static_cast<std::int64_t>(sum));
    else if (sizeof(Input) <= 2)
      store(target, i, static_cast<float>(quotient(sum, arithmetic.divisor, 24)));
    else
      store(target, i, quotient(sum, arithmetic.divisor, 53));
  }
}

/// What every target of the fold must hold. `begin` and `store` are ignored.
inline std::vector<std::byte> fold_naively(const Arithmetic& arithmetic, const Fold& fold) {
  std::vector<std::byte> result(fold.count * arithmetic.size_of(fold.target_cell));
  std::byte* const to = result.data();
  switch (arithmetic.input) {
    case DType::kFloat16:
      fold_floats<Float16, float>(arithmetic, fold, to);
      break;
    case DType::kBFloat16:
      fold_floats<BFloat16, float>(arithmetic, fold, to);
      break;
    case DType::kFloat32:
      fold_floats<float, float>(arithmetic, fold, to);
      break;
    case DType::kFloat64:
      fold_floats<double, double>(arithmetic, fold, to);
      break;
    case DType::kInt8:
      fold_integers<std::int8_t>(arithmetic, fold, to);
      break;
    case DType::kInt16:
      fold_integers<std::int16_t>(arithmetic, fold, to);
      break;
    case DType::kInt32:
      fold_integers<std::int32_t>(arithmetic, fold, to);
      break;
    case DType::kInt64:
      fold_integers<std::int64_t>(arithmetic, fold, to);
      break;
    case DType::kUInt8:
      fold_integers<std::uint8_t>(arithmetic, fold, to);
      break;
    case DType::kUInt16:
      fold_integers<std::uint16_t>(arithmetic, fold, to);
      break;
    case DType::kUInt32:
      fold_integers<std::uint32_t>(arithmetic, fold, to);
      break;
    case DType::kUInt64:
      fold_integers<std::uint64_t>(arithmetic, fold, to);
      break;
  }
  return result;
}

}  // namespace fanin::reference
