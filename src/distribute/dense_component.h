#pragma once

#include <cstddef>

#include "fanin/distributed_values.h"

namespace fanin {

/// The component of a replica, which must be dense.
inline const Tensor& dense(const PerReplica& value, std::size_t replica) {
  return std::get<Tensor>(value.values()[replica]);
}

}  // namespace fanin
