#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "executor/proved_schedule.h"
#include "fanin/algorithms.h"

namespace fanin {

/// The schedules that groups have used, each built and proved once. Any thread may ask.
class ScheduleBook {
 public:
  /// Throws InvalidArgument as build_schedule().
  std::shared_ptr<const ProvedSchedule> find(const std::string& algorithm, int rank_count,
                                             Goal goal, std::optional<int> root) {
    const std::lock_guard lock(mutex_);
    auto& entry = schedules_[{algorithm, rank_count, goal, root.value_or(-1)}];
    if (!entry)
      entry = std::make_shared<const ProvedSchedule>(build_schedule(
          algorithm, {.topology = {.worker_count = rank_count}, .goal = goal, .root = root}));
    return entry;
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::string, int, Goal, int>, std::shared_ptr<const ProvedSchedule>>
      schedules_;
};

}  // namespace fanin
