#include "fanin/join.h"

#include <memory>
#include <string_view>
#include <utility>

#include "core/require.h"
#include "transports/in_process.h"
#include "transports/shared_memory.h"

namespace fanin {
namespace {

void require_timeout(std::chrono::duration<double> timeout) {
  require(timeout.count() > 0, ErrorKind::kBadOption, "the timeout must be above 0 seconds, got {}",
          timeout.count());
}

}  // namespace

Group join(const JoinOptions& options) {
  require(options.world_size >= 1, ErrorKind::kBadOption,
          "the world size must be 1 or more, got {}", options.world_size);
  require(options.rank >= 0 && options.rank < options.world_size, ErrorKind::kBadOption,
          "rank {} does not exist in a world of {}; ranks count from 0", options.rank,
          options.world_size);
  require_timeout(options.timeout);
  if (options.world_size == 1) return std::move(in_process(1, options.timeout).front());

  require(!options.rendezvous.empty(), ErrorKind::kBadOption,
          "{} ranks need a rendezvous to find each other, such as \"file:/tmp/my-job/socket\"",
          options.world_size);
  constexpr std::string_view kScheme = "file:";
  require(options.rendezvous.starts_with(kScheme) && options.rendezvous.size() > kScheme.size(),
          ErrorKind::kBadOption, "rendezvous \"{}\" is not known; use file:PATH",
          options.rendezvous);
  return Group(
      join_shared_memory(options.rendezvous.substr(kScheme.size()), options.rank,
                         options.world_size, kDefaultWindowBytes, deadline_after(options.timeout)),
      options.timeout);
}

std::vector<Group> in_process(int rank_count, std::chrono::duration<double> timeout) {
  require_timeout(timeout);
  std::vector<Group> groups;
  for (std::unique_ptr<Transport>& transport : make_in_process(rank_count, kDefaultWindowBytes))
    groups.emplace_back(std::move(transport), timeout);
  return groups;
}

}  // namespace fanin
