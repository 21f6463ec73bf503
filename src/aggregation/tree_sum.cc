#include "aggregation/tree_sum.h"

#include <algorithm>
#include <utility>

namespace fanin {

void TreeSum::push(PartialSum term, const Shape* dense_shape) {
  setting_.memory.add(bytes_of(term));
  Node node{.level = 0, .index = 0, .sum = std::move(term)};
  std::unique_lock lock(mutex_);
  if (dense_shape != nullptr) dense_shape_ = dense_shape;
  node.index = leaf_count_++;
  while (true) {
    std::vector<ChainLink> chain = take_siblings(node);
    if (chain.size() == 1) {
      node.sum = std::move(chain[0].sum);
      waiting_.push_back(std::move(node));
      peak_partial_count_ = std::max(peak_partial_count_, waiting_.size());
      return;
    }
    const Shape* const shape = dense_shape_;
    lock.unlock();
    node.sum = sum_chain(setting_, std::move(chain), shape);
    lock.lock();
  }
}

std::vector<ChainLink> TreeSum::take_siblings(Node& node) {
  std::vector<ChainLink> chain;
  chain.push_back({std::move(node.sum)});
  while (true) {
    const auto sibling = std::ranges::find_if(waiting_, [&](const Node& other) {
      return other.level == node.level && other.index == (node.index ^ 1U);
    });
    if (sibling == waiting_.end()) return chain;
    chain.push_back({std::move(sibling->sum), sibling->index < node.index});
    waiting_.erase(sibling);
    ++node.level;
    node.index /= 2;
  }
}

std::vector<ChainLink> TreeSum::take_rest() {
  const std::scoped_lock lock(mutex_);
  std::ranges::sort(waiting_, {}, &Node::level);
  std::vector<ChainLink> chain;
  for (Node& node : waiting_) chain.push_back({std::move(node.sum), true});
  waiting_.clear();
  return chain;
}

std::size_t TreeSum::partial_count() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size();
}

std::size_t TreeSum::peak_partial_count() const {
  const std::scoped_lock lock(mutex_);
  return peak_partial_count_;
}

}  // namespace fanin
