#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "aggregation/partial_sum.h"

namespace fanin {

/// A balanced tree over adjacent pairs that grows as terms arrive. Any thread may push; sums are
/// made outside of the lock, by the thread whose term or sum completes a pair. The bits depend on
/// the order of arrival alone.
class TreeSum {
 public:
  explicit TreeSum(const SumSetting& setting) : setting_(setting) {}

  /// Adds the next leaf. `dense_shape` is that of the dense terms pushed so far, if there is one;
  /// it must stay where it is.
  void push(PartialSum term, const Shape* dense_shape);

  /// Takes what is left, from the latest and smallest to the first and largest: odd ones are
  /// carried up, so the sum is that chain. No push may be under way.
  std::vector<ChainLink> take_rest();

  /// Terms and partial sums that wait, now and at most so far between two pushes.
  std::size_t partial_count() const;
  std::size_t peak_partial_count() const;

 private:
  /// The sum of leaves from index << level on, 1 << level of them.
  struct Node {
    int level = 0;
    std::size_t index = 0;
    PartialSum sum;
  };

  /// Takes the siblings that wait for the node, one level after the other: the node becomes the
  /// ancestor, with the chain in place of its sum. Under the lock.
  std::vector<ChainLink> take_siblings(Node& node);

  SumSetting setting_;
  mutable std::mutex mutex_;
  std::vector<Node> waiting_;
  const Shape* dense_shape_ = nullptr;
  std::size_t leaf_count_ = 0;
  std::size_t peak_partial_count_ = 0;
};

}  // namespace fanin
