#include "distribute/arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "core/require.h"
#include "distribute/host_levels.h"
#include "kernels/arithmetic.h"
#include "schedule/goal.h"

namespace fanin {
namespace {

void check_root(const Arguments& arguments, int size) {
  if (!arguments.root) return;
  require(*arguments.root >= 0 && *arguments.root < size, ErrorKind::kBadOption,
          "rank {} does not exist in a group of {}; ranks count from 0", *arguments.root, size);
}

/// A number of rows for each rank.
void check_list(Request::Operation operation, std::span<const std::int64_t> extents, int size) {
  require(extents.size() == static_cast<std::size_t>(size), ErrorKind::kShapeMismatch,
          "{} was given {} extents in a group of {}; give one for each rank", name(operation),
          extents.size(), size);
  const auto negative = std::ranges::find_if(extents, [](std::int64_t rows) { return rows < 0; });
  require(negative == extents.end(), ErrorKind::kShapeMismatch,
          "extents [{}] of {} have a negative number; each is 0 or more", fmt::join(extents, ","),
          name(operation));
}

Shape row_of(const Shape& shape) {
  require(shape.rank() > 0, ErrorKind::kShapeMismatch,
          "a scalar has no axis along which parts could lie; give it the shape [1]");
  return Shape(std::vector<std::int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

Shape with_rows(std::int64_t rows, const Shape& row) {
  std::vector<std::int64_t> dims{rows};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  return Shape(std::move(dims));
}

/// One rank's view of what its call does.
class Checker {
 public:
  Checker(const Arguments& arguments, int rank, int size)
      : arguments_(arguments),
        operation_(arguments.operation),
        goal_(goal_of(arguments.operation)),
        rank_(rank),
        size_(size),
        held_(held_parts(goal_, size, rank, arguments.root)),
        wanted_(wanted_parts(goal_, size, rank, arguments.root)) {}

  Request run() {
    check_options(operation_, arguments_.options);
    check_algorithm(arguments_.options.algorithm);
    request_ = {.operation = operation_,
                .op = arguments_.options.op,
                .accumulation = arguments_.options.accumulation,
                .algorithm = arguments_.options.algorithm,
                .root = arguments_.root,
                .items = {{given_dtype(), {}}},
                .priority = arguments_.options.priority};
    if (has_parts(goal_)) {
      request_.items.front().shape = row_of(given_shape());
      find_extents();
    } else {
      require(arguments_.options.extents.empty(), ErrorKind::kBadOption,
              "{} has no parts for which extents could be given; leave them out", name(operation_));
      request_.items.front().shape = given_shape();
    }
    if (!has_parts(goal_) || request_.extents.are_known()) check_data();
    return std::move(request_);
  }

 private:
  bool has_input() const { return held_.count > 0 && operation_ != Request::Operation::kBroadcast; }
  DType given_dtype() const {
    return has_input() ? arguments_.input.dtype() : arguments_.out->dtype;
  }
  const Shape& given_shape() const {
    return has_input() ? arguments_.input.shape() : arguments_.out->shape;
  }
  const Shape& row() const { return request_.items.front().shape; }

  void find_extents() {
    const std::vector<std::int64_t>& given = arguments_.options.extents;
    if (!given.empty()) {
      require(operation_ != Request::Operation::kAllToAll, ErrorKind::kBadOption,
              "all_to_all takes no extents among its options, since each rank has its own; give "
              "them as an argument");
      check_list(operation_, given, size_);
      set_extents(request_, Extents(given), size_);
    } else if (!arguments_.sent.empty()) {
      check_sent();
    } else if (told_extents(arguments_).empty()) {
      set_extents(request_, equal_extents(), size_);
    }
  }

  void check_sent() const {
    check_list(operation_, arguments_.sent, size_);
    const std::int64_t rows = Extents(arguments_.sent).sum({.count = size_});
    require(arguments_.input.shape()[0] == rows, ErrorKind::kShapeMismatch,
            "the input of {} has shape {}, but its extents [{}] add up to {}; they must be equal",
            name(operation_), to_string(arguments_.input.shape()), fmt::join(arguments_.sent, ","),
            rows);
  }

  Extents equal_extents() const {
    const std::int64_t rows = given_shape()[0];
    const int parts = has_input() ? held_.count : wanted_.count;
    require(rows % parts == 0, ErrorKind::kShapeMismatch,
            "the input of {} has shape {}, whose {} rows cannot be dealt evenly to {} ranks; give "
            "a multiple of {}, or extents",
            name(operation_), to_string(given_shape()), rows, parts, parts);
    return Extents(rows / parts);
  }

  void check_data() const {
    if (has_input() && has_parts(goal_)) {
      const std::int64_t rows = request_.extents.sum(held_);
      require(arguments_.input.shape()[0] == rows, ErrorKind::kShapeMismatch,
              "the input of {} has shape {}, but with {} rank {} has {} rows to give; they must be "
              "equal",
              name(operation_), to_string(arguments_.input.shape()), to_string(request_.extents),
              rank_, rows);
    }
    if (wanted_.count == 0 || !arguments_.out) return;
    check_output(operation_, *arguments_.out, result_dtype(request_.op, given_dtype()),
                 result_shape(request_, rank_, size_));
    if (has_input() && !is_in_place())
      check_apart(operation_, arguments_.input.bytes(), arguments_.out->bytes);
  }

  /// Whether the parts lie as in one row of all parts, of which input and output are pieces. Then
  /// they meet in what the rank gives itself, and nowhere else.
  bool is_in_place() const {
    const bool are_pieces = held_.stride == 1 && wanted_.stride == 1;
    const std::size_t cell = size_of(arguments_.input.dtype());
    const auto start = [&](const PartList& parts) {
      return static_cast<std::uintptr_t>(request_.extents.sum({.count = parts.first})) *
             row().element_count() * cell;
    };
    return are_pieces && cell == size_of(arguments_.out->dtype) &&
           reinterpret_cast<std::uintptr_t>(arguments_.input.bytes().data()) - start(held_) ==
               reinterpret_cast<std::uintptr_t>(arguments_.out->bytes.data()) - start(wanted_);
  }

  const Arguments& arguments_;
  const Request::Operation operation_;
  const Goal goal_;
  const int rank_;
  const int size_;
  const PartList held_;
  const PartList wanted_;
  Request request_;
};

}  // namespace

Request to_request(const Arguments& arguments, int rank, int size) {
  check_root(arguments, size);
  return Checker(arguments, rank, size).run();
}

std::vector<std::int64_t> told_extents(const Arguments& arguments) {
  if (arguments.out || !arguments.options.extents.empty()) return {};
  if (arguments.operation == Request::Operation::kAllGather ||
      arguments.operation == Request::Operation::kGather)
    return {arguments.input.shape()[0]};
  return arguments.sent;
}

void set_extents(Request& request, Extents extents, int size) {
  const int parts = part_count(goal_of(request.operation), size);
  with_rows(extents.sum({.count = parts}), request.items.front().shape);
  request.extents = std::move(extents);
}

bool wants_result(const Request& request, int rank, int size) {
  return wanted_parts(goal_of(request.operation), size, rank, request.root).count > 0;
}

Shape result_shape(const Request& request, int rank, int size) {
  const Goal goal = goal_of(request.operation);
  const Shape& shape = request.items.front().shape;
  if (!has_parts(goal)) return shape;
  return with_rows(request.extents.sum(wanted_parts(goal, size, rank, request.root)), shape);
}

void throw_bad_timeout(std::chrono::duration<double> timeout) {
  throw_invalid(ErrorKind::kBadOption, "a timeout must be above 0 s, got {} s", timeout.count());
}

void check_options(Request::Operation operation, const AllReduceOptions& options) {
  check(options.op);
  check(options.accumulation);
  check_timeout(options.timeout);
  require(options.accumulation != Accumulation::kExact, ErrorKind::kBadOption,
          "accumulation exact is not for {}, whose partial sums travel rounded; use wide or native",
          name(operation));
  require(options.priority >= 0, ErrorKind::kBadOption,
          "the priority of {} is {}; it must be 0 or more, where 0 is the usual one",
          name(operation), options.priority);
}

void throw_bad_output(Request::Operation operation, const TensorView& out, DType dtype,
                      const Shape& shape) {
  require(out.dtype == dtype, ErrorKind::kDtypeMismatch,
          "the output of {} is {}, but its result is {}", name(operation), name(out.dtype),
          name(dtype));
  require(out.shape == shape, ErrorKind::kShapeMismatch,
          "the output of {} has shape {}, but its result has {}", name(operation),
          to_string(out.shape), to_string(shape));
  throw_invalid(ErrorKind::kShapeMismatch,
                "the output of {} of shape {} has {} bytes instead of {}", name(operation),
                to_string(shape), out.bytes.size(), shape.element_count() * size_of(dtype));
}

void check_apart(Request::Operation operation, std::span<const std::byte> input,
                 std::span<const std::byte> out) {
  const bool are_apart = std::less_equal<>{}(input.data() + input.size(), out.data()) ||
                         std::less_equal<>{}(out.data() + out.size(), input.data());
  if (are_apart) return;
  const bool may_be_in_place = operation != Request::Operation::kAllToAll;
  throw_invalid(ErrorKind::kBadOption, "the output of {} overlaps its input; use other memory{}",
                name(operation),
                !may_be_in_place                ? ""
                : has_parts(goal_of(operation)) ? ", or this rank's own part for both"
                                                : ", or the same for both");
}

}  // namespace fanin
