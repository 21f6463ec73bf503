#include "aggregation/accumulate_sum.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "core/thread_pool.h"
#include "kernels/fold.h"
#include "kernels/parallel_fold.h"

namespace fanin {
namespace {

// Small enough to go round among threads, large enough that a claim costs nothing beside it.
constexpr std::size_t kBlockElements = std::size_t{16} << 10;

// Terms that are added in one pass; more gain nothing.
constexpr std::size_t kMostAtOnce = 16;

}  // namespace

AccumulateSum::AccumulateSum(const SumSetting& setting, std::size_t most_terms,
                             std::size_t element_count)
    : setting_(setting),
      element_count_(element_count),
      buffer_(setting.context.buffers().allocate(element_count *
                                                 setting.arithmetic.size_of(Cell::kPartial))),
      blocks_((element_count + kBlockElements - 1) / kBlockElements),
      shares_(static_cast<std::size_t>(setting.context.thread_count())),
      arrivals_(most_terms) {
  setting_.memory.add(buffer_.size());
}

void AccumulateSum::push(Tensor term) {
  const std::size_t bytes = term.bytes().size();
  setting_.memory.add(bytes);
  if (!blocks_.empty()) {
    std::size_t mine = 0;
    std::size_t pusher = 0;
    bool is_alone = false;
    {
      const std::scoped_lock lock(arrival_mutex_);
      pusher = number_of_this_thread();
      is_alone = pushers_.size() == 1;
      mine = arrived_.load(std::memory_order_relaxed);
      arrivals_[mine].term = std::move(term);
      arrivals_[mine].blocks_left.store(blocks_.size(), std::memory_order_relaxed);
      arrived_.store(mine + 1, std::memory_order_release);
    }
    // Alone, it takes the pool's threads to help; among others, these are the help, and more
    // threads than cores would only lie asleep on blocks that they have claimed.
    const std::size_t moved = element_count_ * setting_.arithmetic.size_of(Cell::kPartial) * 3;
    if (is_alone && moved > kOneThreadBytes)
      setting_.context.threads().run(setting_.context.thread_count(), [&](int thread) {
        visit_share(static_cast<std::size_t>(thread));
      });
    Share& share = shares_[pusher % shares_.size()];
    share.pusher_count.fetch_add(1, std::memory_order_relaxed);
    // Others see to their own shares: were these visited as well, each visit would find fewer terms
    // to be added at once.
    visit_shares(pusher % shares_.size());
    while (arrivals_[mine].blocks_left.load(std::memory_order_acquire) != 0) {
      std::this_thread::yield();
      visit_shares(pusher % shares_.size());
    }
    share.pusher_count.fetch_sub(1, std::memory_order_relaxed);
    arrivals_[mine].term = Tensor();
  }
  setting_.memory.remove(bytes);
}

std::size_t AccumulateSum::number_of_this_thread() {
  const auto id = std::this_thread::get_id();
  const auto found = std::ranges::find(pushers_, id);
  const auto number = static_cast<std::size_t>(found - pushers_.begin());
  if (found == pushers_.end()) pushers_.push_back(id);
  return number;
}

void AccumulateSum::visit_share(std::size_t share) {
  const std::size_t end = (share + 1) * blocks_.size() / shares_.size();
  for (std::size_t block = share * blocks_.size() / shares_.size(); block < end; ++block)
    add_waiting(block);
}

void AccumulateSum::visit_shares(std::size_t own) {
  visit_share(own);
  for (std::size_t share = 0; share < shares_.size(); ++share)
    if (share != own && shares_[share].pusher_count.load(std::memory_order_relaxed) == 0)
      visit_share(share);
}

void AccumulateSum::add_waiting(std::size_t index) {
  Block& block = blocks_[index];
  std::size_t added = block.added.load(std::memory_order_relaxed);
  if (added == arrived_.load(std::memory_order_acquire)) return;
  if (block.is_claimed.exchange(true, std::memory_order_acquire)) return;

  added = block.added.load(std::memory_order_relaxed);
  for (std::size_t arrived = 0; added != (arrived = arrived_.load(std::memory_order_acquire));) {
    const std::size_t end = std::min(arrived, added + kMostAtOnce);
    add_terms(index, added, end);
    block.added.store(end, std::memory_order_relaxed);
    for (; added != end; ++added)
      arrivals_[added].blocks_left.fetch_sub(1, std::memory_order_release);
  }
  block.is_claimed.store(false, std::memory_order_release);
}

void AccumulateSum::add_terms(std::size_t block, std::size_t begin, std::size_t end) {
  std::array<Operand, kMostAtOnce + 1> sources{};
  std::size_t source_count = 0;
  std::byte* const targets[] = {buffer_.bytes().data()};
  if (begin > 0) sources[source_count++] = {.data = targets[0], .cell = Cell::kPartial};
  for (std::size_t i = begin; i < end; ++i)
    sources[source_count++] = {.data = arrivals_[i].term.bytes().data(), .cell = Cell::kInput};
  const std::size_t first = block * kBlockElements;
  const Fold fold{.sources = std::span(sources).first(source_count),
                  .targets = targets,
                  .target_cell = Cell::kPartial,
                  .begin = first,
                  .count = std::min(kBlockElements, element_count_ - first)};
  fanin::fold(setting_.arithmetic, fold);
  setting_.memory.count_moved(bytes_moved(setting_.arithmetic, fold));
}

}  // namespace fanin
