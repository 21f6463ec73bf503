// The sum of dense terms. Sparse and missing ones are in sparse_sum.cc.

#include "fanin/add_n.h"

#include <cstdint>
#include <cstring>

#include "aggregation/dense_sum.h"
#include "core/require.h"

namespace fanin {
namespace {

void check_terms(std::span<const Tensor> terms) {
  require(!terms.empty(), ErrorKind::kEmpty, "add_n needs at least one term, got none");
  const Tensor& first = terms.front();
  for (std::size_t i = 1; i < terms.size(); ++i) {
    check_dtypes(0, first.dtype(), i, terms[i].dtype());
    check_shapes(0, first.shape(), i, terms[i].shape());
  }
}

void check_out(const TensorView& out, DType dtype, const Shape& shape) {
  if (out.dtype != dtype)
    throw InvalidArgument(
        ErrorKind::kDtypeMismatch,
        fmt::format("the sum is {} but the output is {}", name(dtype), name(out.dtype)));
  if (out.shape != shape)
    throw InvalidArgument(ErrorKind::kShapeMismatch,
                          fmt::format("the sum has shape {} but the output has shape {}",
                                      to_string(shape), to_string(out.shape)));
  const std::size_t needed = shape.element_count() * size_of(dtype);
  if (out.bytes.size() != needed)
    throw InvalidArgument(
        ErrorKind::kShapeMismatch,
        fmt::format("the output has {} bytes for a {} tensor of shape {}, which has {} bytes",
                    out.bytes.size(), name(dtype), to_string(shape), needed));
}

/// Whether writing `out` element by element would change a term that is still to be read.
bool overlaps_in_part(const Tensor& term, std::span<const std::byte> out) {
  const auto term_begin = reinterpret_cast<std::uintptr_t>(term.bytes().data());
  const auto out_begin = reinterpret_cast<std::uintptr_t>(out.data());
  const bool is_same = term_begin == out_begin && term.bytes().size() == out.size();
  return !is_same && term_begin < out_begin + out.size() &&
         out_begin < term_begin + term.bytes().size();
}

void sum(Context& context, const Arithmetic& arithmetic, std::span<const Tensor> terms,
         std::byte* target) {
  Operands operands(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i)
    operands.set(i, {.data = terms[i].bytes().data(), .cell = Cell::kInput});
  sum_operands(context, arithmetic, operands.span(), terms.front().element_count(), target);
}

Buffer sum_into_buffer(Context& context, const Arithmetic& arithmetic,
                       std::span<const Tensor> terms) {
  const std::size_t bytes = terms.front().element_count() * arithmetic.size_of(Cell::kResult);
  Buffer buffer = context.buffers().allocate(bytes);
  sum(context, arithmetic, terms, buffer.bytes().data());
  return buffer;
}

}  // namespace

Tensor add_n(std::span<const Tensor> terms, const SumOptions& options) {
  check_terms(terms);
  const Tensor& first = terms.front();
  const Arithmetic arithmetic = arithmetic_of(options, first.dtype(), terms.size());
  return {sum_into_buffer(context_of(options), arithmetic, terms), arithmetic.result, first.shape(),
          first.device()};
}

void add_n(std::span<const Tensor> terms, const TensorView& out, const SumOptions& options) {
  check_terms(terms);
  const Arithmetic arithmetic = arithmetic_of(options, terms.front().dtype(), terms.size());
  check_out(out, arithmetic.result, terms.front().shape());

  bool needs_buffer = false;
  for (const Tensor& term : terms) needs_buffer |= overlaps_in_part(term, out.bytes);
  if (!needs_buffer) {
    sum(context_of(options), arithmetic, terms, out.bytes.data());
    return;
  }
  const Buffer buffer = sum_into_buffer(context_of(options), arithmetic, terms);
  std::memcpy(out.bytes.data(), buffer.bytes().data(), out.bytes.size());
}

}  // namespace fanin
