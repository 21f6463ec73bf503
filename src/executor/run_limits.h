#pragma once

#include <stop_token>

#include "transports/transport.h"

namespace fanin {

/// When a run ends early: nothing is left running, and its outputs are not whole.
struct RunLimits {
  Deadline deadline = Deadline::max();
  std::stop_token stop = {};

  bool are_set() const { return deadline != Deadline::max() || stop.stop_possible(); }

  bool are_over() const {
    return stop.stop_requested() || (deadline != Deadline::max() && Clock::now() >= deadline);
  }

  /// Throws Cancelled or DeadlineExceeded if it is time.
  void check() const;
};

}  // namespace fanin
