#include "transports/left_channels.h"

#include <algorithm>

namespace fanin {

void LeftChannels::add(int process, int channel, std::vector<int> members) {
  std::erase(members, process);
  const std::lock_guard lock(mutex_);
  members_[{process, channel}] = std::move(members);
}

std::uint64_t LeftChannels::find_used(int process,
                                      const std::function<std::uint64_t(int)>& used_by) {
  const std::lock_guard lock(mutex_);
  std::uint64_t used = 0;
  std::erase_if(members_, [&](const auto& entry) {
    const auto& [key, members] = entry;
    if (key.first != process) return false;
    const std::uint64_t bit = std::uint64_t{1} << key.second;
    const bool is_used =
        std::ranges::any_of(members, [&](int member) { return (used_by(member) & bit) != 0; });
    if (is_used) used |= bit;
    return !is_used;
  });
  return used;
}

}  // namespace fanin
