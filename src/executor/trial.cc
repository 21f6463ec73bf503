#include "executor/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/visit_dtype.h"
#include "schedule/goal.h"

namespace fanin {
namespace {

// What no right answer consists of, to see what was not written.
constexpr int kUntouched = 0xA5;

/// Inputs repeat after as many elements, and so do outputs: made and checked without arithmetic.
constexpr std::size_t kPeriod = 15;

template <typename T>
using Period = std::array<T, kPeriod>;

/// The input of a rank at an element of the row of all data.
std::int64_t input_at(ReduceOp op, DType dtype, int rank, std::size_t element) {
  const auto number = static_cast<std::int64_t>(element * 7 + static_cast<std::size_t>(rank) * 13);
  const bool is_signed = dtype < DType::kUInt8;
  if (op == ReduceOp::kProd) return rank == 0 ? 2 : is_signed && number % 3 == 0 ? -1 : 1;
  return is_signed ? number % 5 - 2 : number % 3;
}

/// What the inputs of all holders give, before it is finished.
std::int64_t combine(ReduceOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ReduceOp::kMin:
      return std::min(a, b);
    case ReduceOp::kMax:
      return std::max(a, b);
    case ReduceOp::kProd:
      return a * b;
    default:
      return a + b;
  }
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// A whole number as the dtype has it.
template <typename T>
T to_cell(std::int64_t value) {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

/// The same divided, with one rounding as the kernels do.
template <typename T>
T to_quotient(std::int64_t value, int divisor) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(value) / divisor;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(value / divisor);
  else
    return T(static_cast<float>(value) / static_cast<float>(divisor));
}

template <typename T>
double to_double(T value) {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

/// Calls visit(chunk, its range in the row, where that begins in the rank's own buffer) for all
/// that `rank` holds or wants.
template <typename Visit>
void for_each_range(const Schedule& schedule, const Layout& layout, int rank,
                    bool (*is_mine)(const Schedule&, int, int), Visit&& visit) {
  std::size_t own = 0;
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    if (!is_mine(schedule, rank, chunk)) continue;
    const Layout::Range range = layout.chunk(chunk);
    visit(chunk, range, own);
    own += range.end - range.begin;
  }
}

template <typename T>
Period<T> inputs_of(const Trial::Options& options, int rank) {
  Period<T> inputs;
  for (std::size_t i = 0; i < kPeriod; ++i)
    inputs[i] = to_cell<T>(input_at(options.op, options.dtype, rank, i));
  return inputs;
}

/// What everybody who wants a chunk should get.
template <typename T>
Period<T> outputs_of(const Schedule& schedule, const Trial::Options& options, int chunk) {
  Period<T> outputs;
  for (std::size_t i = 0; i < kPeriod; ++i) {
    std::optional<std::int64_t> sum;
    for (int holder = 0; holder < schedule.rank_count; ++holder) {
      if (!holds(schedule, holder, chunk)) continue;
      const std::int64_t input = input_at(options.op, options.dtype, holder, i);
      sum = sum ? combine(options.op, *sum, input) : input;
    }
    outputs[i] = adds(schedule.goal) && options.op == ReduceOp::kMean
                     ? to_quotient<T>(*sum, schedule.rank_count)
                     : to_cell<T>(*sum);
  }
  return outputs;
}

struct Difference {
  std::size_t own;  // element of the rank's buffer
  double got;
  double expected;
};

/// The bits of a cell: -0.0 is not 0.0, and a NaN is itself.
template <typename T>
auto bits_of(T value) {
  if constexpr (sizeof(T) == 1)
    return std::bit_cast<std::uint8_t>(value);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<std::uint16_t>(value);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(value);
  else
    return std::bit_cast<std::uint64_t>(value);
}

/// The first element of a range, from `own` on in the buffer, that has other bits.
template <typename T>
std::optional<Difference> find_difference(const std::byte* buffer, std::size_t own,
                                          const Layout::Range& range, const Period<T>& expected) {
  for (std::size_t i = range.begin; i < range.end; ++i, ++own) {
    T got;
    std::memcpy(&got, buffer + own * sizeof(T), sizeof got);
    const T& wanted = expected[i % kPeriod];
    if (bits_of(got) != bits_of(wanted)) return Difference{own, to_double(got), to_double(wanted)};
  }
  return std::nullopt;
}

std::size_t count_elements(const Schedule& schedule, const Layout& layout, int rank,
                           bool (*is_mine)(const Schedule&, int, int)) {
  std::size_t count = 0;
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk)
    if (is_mine(schedule, rank, chunk))
      count += layout.chunk(chunk).end - layout.chunk(chunk).begin;
  return count;
}

}  // namespace

Arithmetic arithmetic_for(Goal goal, ReduceOp op, DType dtype, Accumulation accumulation,
                          int rank_count) {
  if (adds(goal)) return make_arithmetic(op, dtype, accumulation, rank_count);
  const DType bits = visit_dtype(dtype, [](auto type) {
    switch (sizeof(typename decltype(type)::type)) {
      case 1:
        return DType::kUInt8;
      case 2:
        return DType::kUInt16;
      case 4:
        return DType::kUInt32;
      default:
        return DType::kUInt64;
    }
  });
  return make_arithmetic(ReduceOp::kSum, bits, Accumulation::kWide, 1);
}

Layout layout_for(const Schedule& schedule, std::size_t element_count, std::size_t element_bytes) {
  const auto parts = static_cast<std::size_t>(part_count(schedule.goal, schedule.rank_count));
  if (parts == 1) return Layout({element_count}, schedule.chunk_count, element_bytes);
  std::vector<std::size_t> counts(parts);
  for (std::size_t i = 0; i < parts; ++i)
    counts[i] = element_count / parts + (i < element_count % parts ? 1 : 0);
  return Layout::of_parts(counts, schedule.chunk_count / static_cast<int>(parts), element_bytes);
}

Trial::Trial(const Schedule& schedule, const Options& options, Context& context)
    : schedule_(schedule),
      options_(options),
      arithmetic_(arithmetic_for(schedule.goal, options.op, options.dtype, Accumulation::kWide,
                                 schedule.rank_count)),
      layout_(layout_for(schedule, options.element_count, size_of(options.dtype))),
      plan_(schedule, layout_, arithmetic_, options.outputs, context, options.lowering) {
  for (int rank = 0; rank < schedule.rank_count; ++rank) {
    const std::size_t held = count_elements(schedule_, layout_, rank, holds);
    const std::size_t wanted = count_elements(schedule_, layout_, rank, wants);
    input_buffers_.push_back(context.buffers().allocate(held * arithmetic_.size_of(Cell::kInput)));
    output_buffers_.push_back(
        context.buffers().allocate(wanted * arithmetic_.size_of(Cell::kResult)));
    inputs_.push_back(input_buffers_.back().bytes().data());
    outputs_.push_back(output_buffers_.back().bytes().data());
    std::ranges::fill(output_buffers_.back().bytes(), static_cast<std::byte>(kUntouched));
  }
  fill_inputs();
}

void Trial::fill_inputs() {
  visit_dtype(options_.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    for (int rank = 0; rank < schedule_.rank_count; ++rank) {
      std::byte* const to = input_buffers_[static_cast<std::size_t>(rank)].bytes().data();
      const Period<T> inputs = inputs_of<T>(options_, rank);
      for_each_range(schedule_, layout_, rank, holds,
                     [&](int, const Layout::Range& range, std::size_t own) {
                       for (std::size_t i = range.begin; i < range.end; ++i, ++own)
                         store(to + own * sizeof(T), inputs[i % kPeriod]);
                     });
    }
  });
}

std::optional<std::string> Trial::find_wrong() const {
  bool is_first = true;
  for (int rank = 0; rank < schedule_.rank_count; ++rank) {
    if (auto wrong = find_wrong_input(rank)) return wrong;
    if (output_buffers_[static_cast<std::size_t>(rank)].size() == 0) continue;
    if (is_first || options_.outputs == Outputs::kSeparate)
      if (auto wrong = find_wrong_output(rank)) return wrong;
    is_first = false;
  }
  return std::nullopt;
}

std::optional<std::string> Trial::find_wrong_input(int rank) const {
  std::optional<std::string> wrong;
  visit_dtype(options_.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const std::byte* const from = inputs_[static_cast<std::size_t>(rank)];
    const Period<T> expected = inputs_of<T>(options_, rank);
    for_each_range(
        schedule_, layout_, rank, holds, [&](int, const Layout::Range& range, std::size_t own) {
          if (const auto found = find_difference(from, own, range, expected))
            wrong = fmt::format("the input of rank {} was written at element {}", rank, found->own);
        });
  });
  return wrong;
}

std::optional<std::string> Trial::find_wrong_output(int rank) const {
  std::optional<std::string> wrong;
  const bool is_sum = adds(schedule_.goal);
  visit_dtype(is_sum ? arithmetic_.result : options_.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const std::byte* const from = outputs_[static_cast<std::size_t>(rank)];
    for_each_range(schedule_, layout_, rank, wants,
                   [&](int chunk, const Layout::Range& range, std::size_t own) {
                     const Period<T> expected = outputs_of<T>(schedule_, options_, chunk);
                     const auto found = find_difference(from, own, range, expected);
                     if (found && !wrong)
                       wrong = fmt::format("rank {} got {} at element {}, expected {}", rank,
                                           found->got, found->own, found->expected);
                   });
  });
  return wrong;
}

std::size_t Trial::input_bytes() const {
  std::size_t bytes = 0;
  for (const Buffer& buffer : input_buffers_) bytes += buffer.size();
  return bytes;
}

std::size_t Trial::output_bytes() const {
  std::size_t bytes = 0;
  for (const Buffer& buffer : output_buffers_)
    if (bytes == 0 || options_.outputs == Outputs::kSeparate) bytes += buffer.size();
  return bytes;
}

}  // namespace fanin
