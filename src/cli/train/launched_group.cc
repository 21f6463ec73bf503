#include "cli/train/launched_group.h"

#include "fanin/join.h"

namespace fanin::cli {

std::optional<Group> join_launched() {
  const JoinOptions options = JoinOptions::from_environment();
  if (options.rendezvous.empty() && options.engine.empty() && !options.store) return std::nullopt;
  return join(options);
}

}  // namespace fanin::cli
