#pragma once

// For tests: random folds, run beside the naive one.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/fold_reference.h"

namespace fanin::reference {

/// Bytes that begin `offset` bytes after a cache line's border, with guards around them.
class Memory {
 public:
  Memory(std::size_t size, std::size_t offset)
      : bytes_(size + offset + 3 * kGuard, kFill), size_(size) {
    const auto start = reinterpret_cast<std::uintptr_t>(bytes_.data()) + kGuard;
    begin_ = kGuard + (kGuard - start % kGuard) % kGuard + offset;
  }
  std::byte* data() { return bytes_.data() + begin_; }
  std::size_t size() const { return size_; }

  /// Nothing outside was written.
  bool guards_are_whole() const {
    const auto is_fill = [](std::byte byte) { return byte == kFill; };
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(bytes_.begin(), begin, is_fill) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(size_), bytes_.end(), is_fill);
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::byte kFill{0xa5};
  std::vector<std::byte> bytes_;
  std::size_t size_;
  std::size_t begin_ = 0;
};

/// Numbers of mixed signs and exponents, so that any other order of a sum shows.
inline void fill(std::byte* to, std::size_t count, const Arithmetic& arithmetic, Cell cell,
                 std::mt19937_64& random) {
  const bool is_product = arithmetic.op == ReduceOp::kProd;
  const int spread = is_product || arithmetic.input == DType::kFloat16 ? 3 : 12;
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-spread, spread - 1);
  for (std::size_t i = 0; i < count; ++i) {
    double value = std::ldexp(mantissa(random), exponent(random));
    if (random() % 2 == 0) value = -value;
    const bool extremes = arithmetic.op == ReduceOp::kMin || arithmetic.op == ReduceOp::kMax;
    if (extremes && random() % 16 == 0) value = std::copysign(0.0, value);
    if (extremes && random() % 64 == 0) value = std::nan("");
    if (arithmetic.rounds_each_step)  // so that partials are as rounded as sums would be
      value = static_cast<float>(BFloat16(static_cast<float>(value)));
    const std::size_t size = arithmetic.size_of(cell);
    if (!is_floating(arithmetic.input)) {
      // Partials of means have room above their inputs; their bits stay below the sign's.
      const std::uint64_t word = random();
      std::memcpy(to + i * size, &word, std::min<std::size_t>(size, 8));
      if (size == 16) std::memset(to + i * size + 8, (word >> 63) != 0 ? 0xff : 0, 8);
      if (size == 8 && arithmetic.op == ReduceOp::kMean && cell == Cell::kPartial)
        store(to, i, static_cast<std::int64_t>(word) >> 20);
    } else if (arithmetic.input == DType::kFloat64) {
      store(to, i, value);
    } else if (arithmetic.input == DType::kFloat16 && cell == Cell::kInput) {
      store(to, i, Float16(static_cast<float>(value)));
    } else if (arithmetic.input == DType::kBFloat16 && cell == Cell::kInput) {
      store(to, i, BFloat16(static_cast<float>(value)));
    } else {
      store(to, i, static_cast<float>(value));
    }
  }
}

/// Both are NaN of the type, or have the same bits.
inline bool is_same(DType dtype, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
  switch (dtype) {
    case DType::kFloat16:
      return std::isnan(static_cast<float>(load<Float16>(a, 0))) &&
             std::isnan(static_cast<float>(load<Float16>(b, 0)));
    case DType::kBFloat16:
      return std::isnan(static_cast<float>(load<BFloat16>(a, 0))) &&
             std::isnan(static_cast<float>(load<BFloat16>(b, 0)));
    case DType::kFloat32:
      return std::isnan(load<float>(a, 0)) && std::isnan(load<float>(b, 0));
    case DType::kFloat64:
      return std::isnan(load<double>(a, 0)) && std::isnan(load<double>(b, 0));
    default:
      return false;
  }
}

/// What a random fold looks like.
struct Sample {
  Arithmetic arithmetic;
  std::size_t source_count = 2;
  std::vector<std::uint8_t> group_sizes = {};
  std::vector<std::uint8_t> joins = {};
  std::size_t target_count = 1;
  Cell target_cell = Cell::kResult;
  std::size_t count = 100;
  Store store = Store::kCached;
  std::size_t source_offset = 0;      // source s lies s * source_offset bytes past a line's border
  std::size_t target_offset = 0;      // all targets alike ...
  std::size_t target_stagger = 0;     // ... but for this much more from one to the next
  std::uint64_t partial_sources = 0;  // one bit for each source (modulo 64)
  bool is_in_place = false;           // the last source is the first target
  std::uint64_t seed = 1;

  std::string describe() const {
    return std::string(name(arithmetic.op)) + " " + std::string(name(arithmetic.input)) +
           (arithmetic.rounds_each_step ? " native" : "") +
           " sources=" + std::to_string(source_count) + " targets=" + std::to_string(target_count) +
           " count=" + std::to_string(count) + (store == Store::kStreaming ? " streaming" : "") +
           " offsets=" + std::to_string(source_offset) + "," + std::to_string(target_offset) + "+" +
           std::to_string(target_stagger) + (is_in_place ? " in place" : "") +
           (target_cell == Cell::kPartial ? " partial" : "") +
           " partials=" + std::to_string(partial_sources) + " seed=" + std::to_string(seed);
  }
};

/// Runs it by `run(arithmetic, fold)` and compares all targets with the naive fold. Returns whether
/// all is well.
template <typename Run>
bool matches_naive(const Sample& sample, const Run& run) {
  std::mt19937_64 random(sample.seed);
  const Arithmetic& arithmetic = sample.arithmetic;
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<Operand> sources;
  for (std::size_t s = 0; s < sample.source_count; ++s) {
    const Cell cell = (sample.partial_sources >> s % 64 & 1U) != 0 ? Cell::kPartial : Cell::kInput;
    memory.push_back(std::make_unique<Memory>(sample.count * arithmetic.size_of(cell),
                                              s * sample.source_offset % 64));
    fill(memory.back()->data(), sample.count, arithmetic, cell, random);
    sources.push_back({memory.back()->data(), cell});
  }
  std::vector<std::byte*> targets;
  const std::size_t target_size = arithmetic.size_of(sample.target_cell);
  for (std::size_t t = 0; t < sample.target_count; ++t) {
    if (t == 0 && sample.is_in_place) {
      targets.push_back(memory.back()->data());
      continue;
    }
    memory.push_back(std::make_unique<Memory>(
        sample.count * target_size, (sample.target_offset + t * sample.target_stagger) % 64));
    targets.push_back(memory.back()->data());
  }
  const Fold fold{.sources = sources,
                  .group_sizes = sample.group_sizes,
                  .joins = sample.joins,
                  .targets = targets,
                  .target_cell = sample.target_cell,
                  .count = sample.count,
                  .store = sample.store};
  const std::vector<std::byte> expected = fold_naively(arithmetic, fold);
  run(arithmetic, fold);

  DType type = arithmetic.result;
  if (sample.target_cell == Cell::kPartial && is_floating(arithmetic.input))
    type = target_size == 4 ? DType::kFloat32 : DType::kFloat64;
  else if (sample.target_cell == Cell::kPartial)
    type = DType::kUInt8;  // bytes
  const std::size_t step = size_of(type);
  for (const std::byte* target : targets)
    for (std::size_t at = 0; at < expected.size(); at += step)
      if (!is_same(type, target + at, expected.data() + at)) {
        ADD_FAILURE() << sample.describe() << ": byte " << at << " of " << expected.size()
                      << " differs";
        return false;
      }
  for (const auto& piece : memory)
    if (!piece->guards_are_whole()) {
      ADD_FAILURE() << sample.describe() << ": wrote outside of a target";
      return false;
    }
  return true;
}

}  // namespace fanin::reference
