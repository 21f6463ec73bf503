// Double binary tree: two trees over all ranks, each for half of the data, of which the second is
// the mirror of the first, so that most ranks are leaves of one and inner nodes of the other.
// 2 floor(log2 p) rounds, and the least bytes in all, though some ranks send more than others.
// Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan"
// (2009).

#include <algorithm>
#include <utility>

#include "algorithms/all.h"

namespace fanin {
namespace {

/// A node of an in-order tree: ranks of its left part are lower, those of its right part higher.
struct Node {
  int rank;
  int height;  // 0 for a leaf
  std::vector<int> children;
};

/// The tree over ranks [begin, end), children before parents. Returns the number of its root in
/// `nodes`.
int build_tree(int begin, int end, std::vector<Node>& nodes) {
  const int middle = begin + (end - begin) / 2;
  Node node{.rank = middle, .height = 0, .children = {}};
  for (const auto& [first, last] : {std::pair(begin, middle), std::pair(middle + 1, end)}) {
    if (first == last) continue;
    const int child = build_tree(first, last, nodes);
    node.children.push_back(child);
    node.height = std::max(node.height, nodes[static_cast<std::size_t>(child)].height + 1);
  }
  nodes.push_back(std::move(node));
  return static_cast<int>(nodes.size()) - 1;
}

}  // namespace

Schedule double_tree(const Topology& topology) {
  const int rank_count = topology.rank_count();
  Schedule schedule{.name = "double_tree", .rank_count = rank_count, .chunk_count = 2};
  std::vector<Node> nodes;
  const int root = build_tree(0, rank_count, nodes);
  const auto height = static_cast<std::size_t>(nodes[static_cast<std::size_t>(root)].height);
  schedule.rounds.resize(2 * height);
  for (const Node& node : nodes) {
    for (const bool is_mirror : {false, true}) {
      const auto rank = [&](int number) { return is_mirror ? rank_count - 1 - number : number; };
      const Chunks chunks{is_mirror ? 1 : 0, is_mirror ? 2 : 1};
      Step up{rank(node.rank), chunks, {rank(node.rank)}};
      for (const int child : node.children) {
        const Node& below = nodes[static_cast<std::size_t>(child)];
        up.sources.push_back(rank(below.rank));
        schedule.rounds[2 * height - static_cast<std::size_t>(node.height)].push_back(
            {rank(below.rank), chunks, {rank(node.rank)}});
      }
      if (node.height > 0)
        schedule.rounds[static_cast<std::size_t>(node.height) - 1].push_back(std::move(up));
    }
  }
  return schedule;
}

}  // namespace fanin
