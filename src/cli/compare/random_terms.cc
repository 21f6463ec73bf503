#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "cli/compare/gradient_set.h"
#include "core/require.h"
#include "core/thread_pool.h"
#include "fanin/context.h"
#include "kernels/elementwise.h"

namespace fanin::cli {
namespace {

constexpr std::size_t kBlock = 4096;

/// Random bits that follow from a number alone, so that any thread can make any element: the
/// mixing steps of splitmix64.
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

/// Above 0, up to 1.
double to_unit(std::uint32_t bits) { return (static_cast<double>(bits) + 1) * 0x1p-32; }

/// Two at a time, by Box and Muller.
void fill_normal(std::span<double> block, std::uint64_t key) {
  for (std::size_t i = 0; i < block.size(); i += 2) {
    const std::uint64_t bits = mixed(key + i);
    const auto radius = std::sqrt(-2 * std::log(to_unit(static_cast<std::uint32_t>(bits))));
    const double angle = 2 * std::numbers::pi * to_unit(static_cast<std::uint32_t>(bits >> 32));
    block[i] = radius * std::cos(angle);
    if (i + 1 < block.size()) block[i + 1] = radius * std::sin(angle);
  }
}

void fill_uniform(std::span<double> block, std::uint64_t key) {
  for (std::size_t i = 0; i < block.size(); ++i)
    block[i] = static_cast<double>(mixed(key + i) >> 11) * 0x1p-53;
}

/// Where in the random numbers a block of a term begins. Terms 2^40 elements apart never meet.
std::uint64_t key_of(std::uint64_t seed, int term, std::size_t begin) {
  return mixed(seed) + (static_cast<std::uint64_t>(term) << 40) + begin;
}

/// Term i and the one that mirrors it hold the same large number with opposite signs, up to 2^20
/// times as large as the small ones that are left over.
void fill_ill(std::span<double> block, std::uint64_t seed, int term, int term_count,
              std::size_t begin) {
  fill_normal(block, key_of(seed, term, begin));
  const int mirror = term_count - 1 - term;
  if (mirror == term) return;
  const std::uint64_t key = key_of(~seed, std::min(term, mirror), begin);
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::uint64_t bits = mixed(key + i);
    const double large = std::ldexp(1 + to_unit(static_cast<std::uint32_t>(bits)),
                                    static_cast<int>(bits >> 32 & 15U) + 5);
    block[i] += term < mirror ? large : -large;
  }
}

}  // namespace

Distribution parse_distribution(std::string_view text) {
  if (text == "normal") return Distribution::kNormal;
  if (text == "uniform") return Distribution::kUniform;
  if (text == "ill") return Distribution::kIll;
  throw InvalidArgument(
      ErrorKind::kBadOption,
      fmt::format("\"{}\" is not a distribution; use normal, uniform or ill", text));
}

GradientTerms make_terms(const GradientShape& gradient, int term_count, DType dtype,
                         Distribution distribution, std::uint64_t seed) {
  GradientTerms made{.name = gradient.name, .terms = {}};
  const std::size_t element_count = gradient.shape.element_count();
  Context& context = Context::process();
  // Integers need room for their fractions, unsigned ones for their signs.
  const double scale = is_floating(dtype) ? 1.0 : 20.0;
  for (int term = 0; term < term_count; ++term) {
    Buffer buffer = context.buffers().allocate(element_count * size_of(dtype));
    const auto fill = [&](std::size_t begin) {
      std::array<double, kBlock> numbers;
      const auto block = std::span(numbers).first(std::min(kBlock, element_count - begin));
      if (distribution == Distribution::kNormal)
        fill_normal(block, key_of(seed, term, begin));
      else if (distribution == Distribution::kUniform)
        fill_uniform(block, key_of(seed, term, begin));
      else
        fill_ill(block, seed, term, term_count, begin);
      for (double& number : block) number *= scale;
      convert(DType::kFloat64, reinterpret_cast<const std::byte*>(block.data()), dtype,
              buffer.bytes().data() + begin * size_of(dtype), block.size());
    };
    const auto threads = static_cast<std::size_t>(context.thread_count());
    const std::size_t blocks = (element_count + kBlock - 1) / kBlock;
    context.threads().run(context.thread_count(), [&](int thread) {
      for (auto i = static_cast<std::size_t>(thread); i < blocks; i += threads) fill(i * kBlock);
    });
    made.terms.emplace_back(std::move(buffer), dtype, gradient.shape);
  }
  return made;
}

}  // namespace fanin::cli
