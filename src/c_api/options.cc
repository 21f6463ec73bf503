#include "c_api/options.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "core/require.h"
#include "distribute/join_options.h"

namespace fanin::c_api {
namespace {

/// A struct of any version of the header: what ours does not know must be 0, and what theirs does
/// not have is. `first_size` is that of its first version.
template <typename Options>
Options read(const Options* given, std::size_t first_size, std::string_view name) {
  Options known{};
  if (given == nullptr) return known;
  const std::size_t size = given->size;
  require(size >= first_size, ErrorKind::kBadOption,
          "{0}.size is {1}; set it to sizeof({0}), which is {2} here", name, size, sizeof(Options));
  std::memcpy(&known, given, std::min(size, sizeof(Options)));
  if (size > sizeof(Options)) {
    const std::span<const std::byte> rest(
        reinterpret_cast<const std::byte*>(given) + sizeof(Options), size - sizeof(Options));
    require(std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte{0}; }),
            ErrorKind::kBadOption,
            "{} sets something that this version of Fanin ({}) does not know; use a newer library, "
            "or leave it 0",
            name, fanin_version());
  }
  return known;
}

fanin_call_options read(const fanin_call_options* given) {
  return read(given, offsetof(fanin_call_options, extents) + sizeof given->extents,
              "fanin_call_options");
}

std::optional<std::int64_t> step_of(const fanin_call_options& options) {
  if (options.has_step == 0) return std::nullopt;
  return options.step;
}

std::string algorithm_of(const fanin_call_options& options) {
  return options.algorithm == nullptr ? MoveOptions().algorithm : options.algorithm;
}

std::vector<std::int64_t> extents_of(const fanin_call_options& options, int rank_count) {
  if (options.extents == nullptr) return {};
  return {options.extents, options.extents + rank_count};
}

void require_unset(bool is_unset, std::string_view field, std::string_view call) {
  require(is_unset, ErrorKind::kBadOption,
          "fanin_call_options.{} is set, but {} has no use for it; leave it 0", field, call);
}

void check_data(const void* data, std::size_t count, DType dtype, std::string_view what) {
  require(data != nullptr || count == 0, ErrorKind::kBadOption,
          "{} is NULL, but has {} elements; give their address", what, count);
  check_count(count, dtype, what);
}

Shape flat(std::size_t count) { return Shape{static_cast<std::int64_t>(count)}; }

}  // namespace

std::optional<std::chrono::duration<double>> to_timeout(double seconds) {
  if (seconds == 0) return std::nullopt;
  return std::chrono::duration<double>(seconds);
}

JoinOptions to_join_options(const fanin_join_options* given) {
  const fanin_join_options options =
      read(given, offsetof(fanin_join_options, communicator) + sizeof given->communicator,
           "fanin_join_options");
  const bool says_who = options.world_size != 0;
  require(
      says_who || (options.rank == 0 && options.rendezvous == nullptr), ErrorKind::kBadOption,
      "fanin_join_options has {}, but its world_size is 0; give rendezvous, rank and world_size "
      "together, or none of them, and they come from the environment",
      options.rendezvous == nullptr ? "a rank" : "a rendezvous");
  // A communicator is of the MPI that the program has loaded.
  const std::string_view engine = options.engine != nullptr         ? options.engine
                                  : options.communicator != nullptr ? "mpi"
                                                                    : "";
  JoinOptions result = says_who ? JoinOptions() : read_join_options(engine);
  if (says_who) {
    result.rank = options.rank;
    result.world_size = options.world_size;
    if (options.rendezvous != nullptr) result.rendezvous = options.rendezvous;
  }
  result.timeout = to_timeout(options.timeout_seconds).value_or(result.timeout);
  if (options.secret != nullptr) result.secret = options.secret;
  if (!engine.empty()) result.engine = engine;
  result.communicator = options.communicator;
  return result;
}

AllReduceOptions to_reduce_options(const fanin_call_options* given, std::string_view call,
                                   int rank_count) {
  const fanin_call_options options = read(given);
  require(options.op >= FANIN_SUM && options.op <= FANIN_PROD, ErrorKind::kBadReduceOp,
          "op {} of {} is none; use one from FANIN_SUM (0) to FANIN_PROD (4)", options.op, call);
  require(options.accumulation == FANIN_WIDE || options.accumulation == FANIN_NATIVE,
          ErrorKind::kBadOption,
          "accumulation {} of {} is none; use FANIN_WIDE (0) or FANIN_NATIVE (1)",
          options.accumulation, call);
  return {.op = static_cast<ReduceOp>(options.op),
          .accumulation = static_cast<Accumulation>(options.accumulation),
          .algorithm = algorithm_of(options),
          .step = step_of(options),
          .timeout = to_timeout(options.timeout_seconds),
          .extents = extents_of(options, rank_count)};
}

MoveOptions to_move_options(const fanin_call_options* given, std::string_view call,
                            int rank_count) {
  const fanin_call_options options = read(given);
  require_unset(options.op == 0, "op", call);
  require_unset(options.accumulation == 0, "accumulation", call);
  return {.algorithm = algorithm_of(options),
          .step = step_of(options),
          .timeout = to_timeout(options.timeout_seconds),
          .extents = extents_of(options, rank_count)};
}

MoveOptions to_meeting_options(const fanin_call_options* given, std::string_view call) {
  const fanin_call_options options = read(given);
  require_unset(options.op == 0, "op", call);
  require_unset(options.accumulation == 0, "accumulation", call);
  require_unset(options.algorithm == nullptr, "algorithm", call);
  require_unset(options.extents == nullptr, "extents", call);
  return {.step = step_of(options), .timeout = to_timeout(options.timeout_seconds)};
}

PostOptions to_post_options(const fanin_call_options* given, std::string_view call,
                            std::uint32_t tag) {
  const MoveOptions options = to_meeting_options(given, call);
  require_unset(!options.step, "has_step", call);
  return {.tag = tag, .timeout = options.timeout};
}

DType to_dtype(std::int32_t number) {
  require(number >= 0 && number < kDTypeCount, ErrorKind::kBadOption,
          "dtype {} is none; use one from FANIN_FLOAT16 (0) to FANIN_UINT64 (11)", number);
  return static_cast<DType>(number);
}

void check_count(std::size_t count, DType dtype, std::string_view what) {
  require(count <= std::numeric_limits<std::ptrdiff_t>::max() / size_of(dtype),
          ErrorKind::kShapeMismatch, "{} has {} elements, more than memory can address", what,
          count);
}

Tensor to_input(const void* data, std::size_t count, DType dtype, std::string_view what) {
  check_data(data, count, dtype, what);
  return Tensor::view({static_cast<const std::byte*>(data), count * size_of(dtype)}, dtype,
                      flat(count));
}

TensorView to_output(void* data, std::size_t count, DType dtype, std::string_view what) {
  check_data(data, count, dtype, what);
  return {{static_cast<std::byte*>(data), count * size_of(dtype)}, dtype, flat(count)};
}

}  // namespace fanin::c_api
