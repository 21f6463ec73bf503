#pragma once

#include "fanin/group.h"
#include "fanin/indexed_slices.h"

namespace fanin {

/// The slices of all ranks, one after the other. Throws InvalidArgument, on every rank, if they do
/// not fit together: kSparseMismatch for dense shapes that differ, kShapeMismatch for rows.
IndexedSlices gather_slices(Group& group, const IndexedSlices& mine,
                            const MoveOptions& options = {});

}  // namespace fanin
