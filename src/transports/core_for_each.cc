#include "transports/core_for_each.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fanin {
namespace {

constexpr std::uint64_t kIsTold = 1;
constexpr std::uint64_t kHaveOneEach = 2;
constexpr std::size_t kMateBits = 4;
constexpr std::uint64_t kMateMask = (1 << kMateBits) - 1;
static_assert(kMostCoreMates * kMateBits == 64 && kMostCoreMates == kMateMask + 1);

}  // namespace

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

std::vector<int> find_core_mates(std::span<const cpu_set_t> sets) {
  std::vector<int> mates(sets.size());
  std::iota(mates.begin(), mates.end(), 0);
  const bool all_stay =
      std::ranges::all_of(sets, [](const cpu_set_t& set) { return CPU_COUNT(&set) == 1; });
  if (!all_stay || sets.size() > kMostCoreMates) return mates;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto first =
        std::ranges::find_if(sets, [&](const cpu_set_t& set) { return CPU_EQUAL(&set, &sets[i]); });
    mates[i] = static_cast<int>(first - sets.begin());
  }
  return mates;
}

// The first process is its own mate, so its bits are free to say the rest.
std::uint64_t CoreUse::pack() const {
  std::uint64_t word = kIsTold | (have_one_each ? kHaveOneEach : 0);
  if (core_mates.size() > kMostCoreMates) return word;
  for (std::size_t i = 1; i < core_mates.size(); ++i)
    word |= static_cast<std::uint64_t>(core_mates[i]) << (i * kMateBits);
  return word;
}

CoreUse CoreUse::unpack(std::uint64_t word, std::size_t process_count) {
  CoreUse use{(word & kHaveOneEach) != 0, std::vector<int>(process_count)};
  for (std::size_t i = 1; i < process_count; ++i)
    use.core_mates[i] = process_count > kMostCoreMates
                            ? static_cast<int>(i)
                            : static_cast<int>(word >> (i * kMateBits) & kMateMask);
  return use;
}

CoreUse find_core_use(std::span<const pid_t> processes) {
  std::vector<cpu_set_t> sets;
  sets.reserve(processes.size());
  for (const pid_t process : processes) {
    cpu_set_t& set = sets.emplace_back();
    // One that has ended meanwhile needs no core, and has no mates.
    if (::sched_getaffinity(process, sizeof set, &set) != 0) CPU_ZERO(&set);
  }
  std::vector<int> mates = find_core_mates(sets);
  std::erase_if(sets, [](const cpu_set_t& set) { return CPU_COUNT(&set) == 0; });
  return {have_core_each(sets), std::move(mates)};
}

}  // namespace fanin
