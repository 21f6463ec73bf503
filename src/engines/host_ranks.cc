#include "engines/host_ranks.h"

#include <map>
#include <utility>

namespace fanin {

std::vector<std::vector<int>> ranks_by_host(std::span<const int> hosts) {
  std::map<int, std::vector<int>> ranks_of;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    ranks_of[hosts[rank]].push_back(static_cast<int>(rank));
  std::vector<std::vector<int>> all;
  all.reserve(ranks_of.size());
  for (auto& [host, ranks] : ranks_of) all.push_back(std::move(ranks));
  return all;
}

}  // namespace fanin
