#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fanin/fanin.h"
#include "fanin/group.h"
#include "fanin/join.h"

namespace fanin::c_api {

// What C gives, checked and in our own types. Null options are the defaults. All throw
// InvalidArgument for numbers that mean nothing, and for a size that no version of a struct had.

JoinOptions to_join_options(const fanin_join_options* given);

/// 0: nothing.
std::optional<std::chrono::duration<double>> to_timeout(double seconds);

/// For calls that reduce. `call` is its name; `rank_count` how many extents there are.
AllReduceOptions to_reduce_options(const fanin_call_options* given, std::string_view call,
                                   int rank_count);

/// For calls that only move data: an op or an accumulation is refused.
MoveOptions to_move_options(const fanin_call_options* given, std::string_view call, int rank_count);

/// For calls that have nothing to choose: only step and timeout are taken.
MoveOptions to_meeting_options(const fanin_call_options* given, std::string_view call);

/// For messages between two ranks: only the timeout is taken.
PostOptions to_post_options(const fanin_call_options* given, std::string_view call,
                            std::uint32_t tag);

DType to_dtype(std::int32_t number);

/// Throws InvalidArgument (kShapeMismatch) if memory cannot hold so many. `what` names it.
void check_count(std::size_t count, DType dtype, std::string_view what);

/// `count` elements at `data`, which is not null unless there are none.
Tensor to_input(const void* data, std::size_t count, DType dtype, std::string_view what);
TensorView to_output(void* data, std::size_t count, DType dtype, std::string_view what);

}  // namespace fanin::c_api
