#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "distribute/host_levels.h"
#include "executor/proved_schedule.h"

namespace fanin {

/// The schedules that groups have used, each built and proved once. Any thread may ask.
class ScheduleBook {
 public:
  /// As build_for_hosts(), and throws as that.
  std::shared_ptr<const ProvedSchedule> find(const std::string& algorithm, std::vector<int> hosts,
                                             Goal goal, std::optional<int> root) {
    const std::lock_guard lock(mutex_);
    auto& entry = schedules_[{algorithm, hosts, goal, root.value_or(-1)}];
    if (!entry)
      entry = std::make_shared<const ProvedSchedule>(build_for_hosts(algorithm, hosts, goal, root));
    return entry;
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::string, std::vector<int>, Goal, int>,
           std::shared_ptr<const ProvedSchedule>>
      schedules_;
};

}  // namespace fanin
