#pragma once

#include <span>

#include "fanin/group.h"
#include "fanin/tensor.h"
#include "fanin/variable.h"

namespace fanin {

/// Makes parameters equal on all ranks again, after a step that ended early and may have updated
/// some of them on some ranks only: all get what rank `root` has. A call for all ranks. Errors are
/// those of Group::broadcast().
void resync(Group& group, std::span<const TensorView> parameters, int root = 0);
void resync(Group& group, std::span<Variable> variables, int root = 0);

/// Throws PeerFailure on all ranks, which names two ranks, unless the parameters have the same bits
/// on all of them. A call for all ranks, which costs one pass over memory. Gives their hash.
std::uint64_t require_equal(Group& group, std::span<const TensorView> parameters);

/// FNV-1a of all bytes, eight at a time: the same for the same bits on every machine.
std::uint64_t hash_of(std::span<const TensorView> parameters);

}  // namespace fanin
