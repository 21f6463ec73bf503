#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace fanin {

/// The channels that ranks of this process have left. Others of the same group may not have: they
/// still read what was published there, and one that is late may write to a shelf. Any thread may
/// call.
class LeftChannels {
 public:
  /// `process` has left the channel, whose members were these.
  void add(int process, int channel, std::vector<int> members);

  /// Those of the process's that other members still use, a bit for each; `used_by(process)` tells
  /// what another one uses. The rest is forgotten.
  std::uint64_t find_used(int process, const std::function<std::uint64_t(int)>& used_by);

 private:
  std::mutex mutex_;
  std::map<std::pair<int, int>, std::vector<int>> members_;  // (process, channel)
};

}  // namespace fanin
