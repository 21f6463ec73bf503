#include "cli/cost_json.h"

namespace fanin::cli {

nlohmann::ordered_json cost_to_json(const ScheduleCost& cost) {
  return {{"rounds", cost.round_count},
          {"messages", cost.message_count},
          {"moved_chunks", cost.moved_chunks},
          {"most_sent_chunks", cost.most_sent},
          {"most_received_chunks", cost.most_received},
          {"scratch_chunks", cost.scratch_chunks},
          {"moved_share", cost.share(cost.moved_chunks)},
          {"most_sent_share", cost.share(cost.most_sent)},
          {"most_received_share", cost.share(cost.most_received)}};
}

nlohmann::ordered_json links_to_json(const ScheduleCost& cost) {
  auto links = nlohmann::ordered_json::array();
  for (const LinkLoad& link : cost.links) links.push_back({link.from, link.to, link.chunks});
  return links;
}

}  // namespace fanin::cli
