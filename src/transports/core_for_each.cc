#include "transports/core_for_each.h"

#include <algorithm>
#include <vector>

namespace fanin {

bool have_core_each(std::span<const pid_t> processes) {
  std::vector<cpu_set_t> sets;
  sets.reserve(processes.size());
  for (const pid_t process : processes) {
    cpu_set_t& set = sets.emplace_back();
    CPU_ZERO(&set);
    // One that has ended meanwhile needs no core.
    if (::sched_getaffinity(process, sizeof set, &set) != 0) sets.pop_back();
  }
  return have_core_each(std::span<const cpu_set_t>(sets));
}

bool have_core_each(std::span<const cpu_set_t> sets) {
  std::vector<const cpu_set_t*> choosy;  // those with few cores choose first
  choosy.reserve(sets.size());
  for (const cpu_set_t& set : sets) choosy.push_back(&set);
  std::ranges::stable_sort(choosy, {}, [](const cpu_set_t* set) { return CPU_COUNT(set); });
  cpu_set_t taken;
  CPU_ZERO(&taken);
  return std::ranges::all_of(choosy, [&](const cpu_set_t* set) {
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, set) && !CPU_ISSET(core, &taken)) {
        CPU_SET(core, &taken);
        return true;
      }
    return false;
  });
}

}  // namespace fanin
