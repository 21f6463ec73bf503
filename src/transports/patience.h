#pragma once

#include <functional>
#include <optional>

#include "transports/transport.h"

namespace fanin {

/// How a thread waits that must look at several things again and again: it lets others run, and
/// later sleeps a little.
class Patience {
 public:
  /// To be called when nothing has come. Throws as Transport::wait() if there is no sense in going
  /// on, for `peer`; otherwise rests. `look` looks once more: what a rank that has gone has sent
  /// before counts.
  void rest(Transport& transport, int peer, Call& call, const std::function<bool()>& look);

  /// Something has come.
  void renew() { since_.reset(); }

 private:
  std::optional<Deadline> since_ = std::nullopt;
  std::optional<Deadline> looked_at_peers_ = std::nullopt;
};

}  // namespace fanin
