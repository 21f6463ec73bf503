#include <fmt/core.h>

#include <algorithm>

#include "cli/selftest/checks.h"
#include "fanin/add_n.h"

namespace fanin::cli {
namespace {

constexpr std::size_t kTotals[] = {0, 1, 1000, 30'011};

// Whose sums have the order of add_n, wherever the ranks are.
constexpr const char* kAddNOrder = "direct";

/// Who has how much of `count` numbers, roughly: every third rank has nothing.
std::vector<std::int64_t> deal(std::size_t count, int size) {
  std::vector<std::int64_t> extents(static_cast<std::size_t>(size));
  for (std::size_t rank = 0; rank < extents.size(); ++rank)
    if (rank % 3 != 1) extents[rank] = static_cast<std::int64_t>(count / extents.size() + rank);
  return extents;
}

std::vector<float> slice(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  const std::vector<float> all = tensor.to_vector<float>();
  return {all.begin() + first, all.begin() + first + count};
}

class CollectivesCheck {
 public:
  CollectivesCheck(Group& group, std::size_t count)
      : group_(group), count_(count), extents_(deal(count, group.size())) {
    for (const std::int64_t rows : extents_) {
      starts_.push_back(total_);
      total_ += rows;
    }
    for (int rank = 0; rank < group.size(); ++rank)
      inputs_.push_back(uneven_numbers(rank, static_cast<std::size_t>(total_)));
  }

  Tally run() {
    const Tensor& mine = inputs_[at()];
    const Tensor part = tensor_of(part_of(group_.rank(), group_.rank()));
    const int root = group_.size() - 1;
    const bool is_root = group_.rank() == root;
    const std::vector<float> sum = slice(add_n(inputs_), 0, total_);

    compare(group_.reduce_scatter(mine, {.algorithm = kAddNOrder, .extents = extents_}),
            slice(add_n(inputs_), starts_[at()], extents_[at()]), "reduce_scatter");
    compare(into(is_root ? total_ : 0,
                 [&](const TensorView& out) {
                   group_.reduce(mine, out, root, {.algorithm = kAddNOrder});
                 }),
            is_root ? sum : std::vector<float>(), "reduce");

    std::vector<float> gathered, arrived;
    for (int rank = 0; rank < group_.size(); ++rank) {
      std::ranges::copy(part_of(rank, rank), std::back_inserter(gathered));
      std::ranges::copy(part_of(rank, group_.rank()), std::back_inserter(arrived));
    }
    compare(group_.all_gather(part), gathered, "all_gather");
    compare(group_.gather(part, root).value_or(Tensor()), is_root ? gathered : std::vector<float>(),
            "gather");
    compare(into(extents_[at()],
                 [&](const TensorView& out) {
                   group_.scatter(mine, out, root, {.extents = extents_});
                 }),
            part_of(root, group_.rank()), "scatter");
    compare(group_.all_to_all(mine, extents_), arrived, "all_to_all");

    const int next = (group_.rank() + 1) % group_.size();
    const int last = (group_.rank() + group_.size() - 1) % group_.size();
    if (group_.size() > 1) {
      const Handle sent = group_.start_send(mine, next);
      compare(into(total_, [&](const TensorView& out) { group_.receive(out, last); }),
              slice(inputs_[static_cast<std::size_t>(last)], 0, total_), "receive");
      sent.wait();
    }

    std::vector<float> shared = slice(mine, 0, total_);
    group_.broadcast(TensorView::over(std::span(shared), {total_}), root);
    compare(tensor_of(shared), slice(inputs_.back(), 0, total_), "broadcast");
    return tally_;
  }

 private:
  std::size_t at() const { return static_cast<std::size_t>(group_.rank()); }

  static Tensor tensor_of(const std::vector<float>& numbers) {
    return Tensor::of(std::span<const float>(numbers), {static_cast<std::int64_t>(numbers.size())});
  }

  /// What `from` has for `to`.
  std::vector<float> part_of(int from, int to) const {
    const auto part = static_cast<std::size_t>(to);
    return slice(inputs_[static_cast<std::size_t>(from)], starts_[part], extents_[part]);
  }

  template <typename Call>
  static Tensor into(std::int64_t rows, Call&& call) {
    std::vector<float> numbers(static_cast<std::size_t>(rows));
    call(TensorView::over(std::span(numbers), {rows}));
    return tensor_of(numbers);
  }

  void compare(const Tensor& result, const std::vector<float>& wanted, std::string_view call) {
    tally_.count(same_bits(result, tensor_of(wanted)),
                 fmt::format("{} of {} float32 elements", call, count_));
  }

  Group& group_;
  const std::size_t count_;
  const std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> starts_;
  std::int64_t total_ = 0;
  std::vector<Tensor> inputs_;  // by rank
  Tally tally_;
};

}  // namespace

Tally check_collectives(Group& group) {
  Tally tally;
  for (const std::size_t count : kTotals) tally.add(CollectivesCheck(group, count).run());
  group.barrier();
  return tally;
}

}  // namespace fanin::cli
