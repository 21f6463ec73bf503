#include "executor/run_limits.h"

#include "fanin/error.h"

namespace fanin {

void RunLimits::check() const {
  if (stop.stop_requested()) throw Cancelled("the run was cancelled; its outputs are not whole");
  if (deadline != Deadline::max() && Clock::now() >= deadline)
    throw DeadlineExceeded("the run was not done by its deadline; its outputs are not whole");
}

}  // namespace fanin
