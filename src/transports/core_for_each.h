#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace fanin {

/// Whether each of these sets of cores can have a core of its own. A launcher often gives every
/// process one core: what a process may use says nothing of the others. Exact where any two sets
/// are equal, apart, or one inside the other; otherwise it may be false where a cleverer choice of
/// cores exists.
bool have_core_each(std::span<const cpu_set_t> sets);

/// For each the lowest that stays on the same core. Each by itself if some may run on several, or
/// if there are more than kMostCoreMates.
inline constexpr std::size_t kMostCoreMates = 16;
std::vector<int> find_core_mates(std::span<const cpu_set_t> sets);

/// How processes use the cores.
struct CoreUse {
  bool have_one_each = true;
  std::vector<int> core_mates = {};

  /// In one word, which is never 0, so that one process can tell all others at once.
  std::uint64_t pack() const;
  static CoreUse unpack(std::uint64_t word, std::size_t process_count);

  friend bool operator==(const CoreUse&, const CoreUse&) = default;
};
CoreUse find_core_use(std::span<const pid_t> processes);

}  // namespace fanin
