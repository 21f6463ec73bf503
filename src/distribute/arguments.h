#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "distribute/request.h"
#include "fanin/group.h"
#include "fanin/tensor.h"

namespace fanin {

/// What a rank gives to a collective of one tensor.
struct Arguments {
  Request::Operation operation = Request::Operation::kAllReduce;
  Tensor input = {};                             // of a broadcast: not used, `out` is both
  std::optional<TensorView> out = std::nullopt;  // none: a new tensor gets the result
  std::optional<int> root = std::nullopt;
  AllReduceOptions options = {};
  /// Of all_to_all: how many rows go to each rank, if that is this rank's own affair.
  std::vector<std::int64_t> sent = {};
};

/// Checks the arguments and says what they ask for. The extents are left out if ranks must first
/// tell each other (see told_extents). What this rank does not hold or want is not looked at.
/// Throws InvalidArgument, with what was given, the rule and what to do.
Request to_request(const Arguments& arguments, int rank, int size);

/// What only this rank knows about the extents; nothing if all ranks know all of them. One after
/// the other, those of all ranks are the extents of all parts.
std::vector<std::int64_t> told_extents(const Arguments& arguments);

/// Throws InvalidArgument (kShapeMismatch) if all parts together are more than memory can address.
void set_extents(Request& request, Extents extents, int size);

/// What this rank gets; the extents are known.
bool wants_result(const Request& request, int rank, int size);
Shape result_shape(const Request& request, int rank, int size);

// The checks that an all-reduce of many tensors makes too.

[[noreturn]] void throw_bad_timeout(std::chrono::duration<double> timeout);
inline void check_timeout(const std::optional<std::chrono::duration<double>>& timeout) {
  if (timeout && !(timeout->count() > 0)) throw_bad_timeout(*timeout);
}

void check_options(Request::Operation operation, const AllReduceOptions& options);

[[noreturn]] void throw_bad_output(Request::Operation operation, const TensorView& out, DType dtype,
                                   const Shape& shape);
inline void check_output(Request::Operation operation, const TensorView& out, DType dtype,
                         const Shape& shape) {
  const bool fits = out.dtype == dtype && out.shape == shape &&
                    out.bytes.size() == shape.element_count() * size_of(dtype);
  if (!fits) throw_bad_output(operation, out, dtype, shape);
}

/// For an input and an output of which the one is not written where the other was read.
void check_apart(Request::Operation operation, std::span<const std::byte> input,
                 std::span<const std::byte> out);

}  // namespace fanin
