#pragma once

#include <sched.h>
#include <sys/types.h>

#include <span>

namespace fanin {

/// Whether each of these processes can have a core of its own, by where each may run now. A
/// launcher often gives every process one core: what a process may use says nothing of the others.
bool have_core_each(std::span<const pid_t> processes);

/// The same for sets of cores. Exact where any two sets are equal, apart, or one inside the other;
/// otherwise it may be false where a cleverer choice of cores exists.
bool have_core_each(std::span<const cpu_set_t> sets);

}  // namespace fanin
