#include "executor/fetch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "transports/epoch.h"

namespace fanin {
namespace {

// Large enough that a system call costs little beside the bytes, and so many blocks that ranks
// fetch while others still sum; but what is copied of all ranks stays in cache.
constexpr std::size_t kLeastFetchedBlock = 64 << 10;
constexpr std::size_t kMostFetched = 512 << 10;
constexpr std::size_t kWantedFetches = 4;

constexpr int kShareFlag = Transport::kFirstFreeFlag;

std::size_t choose_block_bytes(std::size_t share_bytes, int rank_count) {
  const std::size_t most = std::max(
      kLeastFetchedBlock, kMostFetched / static_cast<std::size_t>(std::max(1, rank_count - 1)));
  return std::clamp(share_bytes / kWantedFetches, kLeastFetchedBlock, most);
}

std::size_t whole_lines(std::size_t elements) {
  return (elements + kLineElements - 1) / kLineElements * kLineElements;
}

}  // namespace

/// What one call hands down.
struct FetchPlan::Run {
  Transport& transport;
  std::uint64_t wave_base;
  const Buffers& buffers;
  Call call;
  std::size_t block = 0;  // in what the call says
};

FetchPlan::FetchPlan(std::shared_ptr<const ProvedSchedule> schedule, const Layout& layout,
                     const Arithmetic& arithmetic, int rank, Context& context,
                     std::optional<std::size_t> block_bytes)
    : schedule_(std::move(schedule)),
      layout_(layout),
      plan_(std::array{MemoryPart{
                &schedule_->schedule(), layout,
                &schedule_->memory(Outputs::kShared, most_nested_sources(arithmetic))}},
            arithmetic, Outputs::kShared, context),
      input_bytes_(arithmetic.size_of(Cell::kInput)),
      result_bytes_(arithmetic.size_of(Cell::kResult)),
      rank_(rank),
      rank_count_(schedule_->schedule().rank_count) {
  const auto ranks = static_cast<std::size_t>(rank_count_);
  share_ = whole_lines((layout.element_count() + ranks - 1) / ranks);
  const std::size_t wanted =
      block_bytes.value_or(choose_block_bytes(share_ * input_bytes_, rank_count_));
  block_ = std::max(wanted / input_bytes_ / kLineElements * kLineElements, kLineElements);
  block_count_ = (share_ + block_ - 1) / block_;
  copies_ = context.buffers().allocate(ranks * block_ * input_bytes_);
  inputs_.resize(ranks * layout.tensor_count());
}

Layout::Range FetchPlan::block_of(int rank, std::size_t block) const {
  const std::size_t share = static_cast<std::size_t>(rank) * share_;
  const std::size_t end = std::min(share + share_, layout_.element_count());
  const std::size_t begin = std::min(share + block * block_, end);
  return {begin, std::min(begin + block_, end)};
}

void FetchPlan::run(Transport& transport, std::uint64_t& wave_base, const Buffers& buffers,
                    Call& call) {
  Run run{transport, wave_base, buffers, call};
  const auto describe = [&] {
    return fmt::format("{} (block {} of {})", call.describe(), run.block + 1, block_count_);
  };
  run.call.describe = std::cref(describe);
  for (std::size_t block = 0; block < block_count_; ++block) {
    call.give_way();
    sum(run, block);
    publish_count(transport, kShareFlag, wave_base + block + 1, run.call);
    if (block > 0) gather(run, block - 1);
  }
  if (block_count_ > 0) {
    gather(run, block_count_ - 1);
    publish_count(transport, Transport::kCompletionFlag, wave_base + block_count_, run.call);
    for (int rank = 0; rank < rank_count_; ++rank)
      if (rank != rank_) wait(run, rank, Transport::kCompletionFlag, block_count_ - 1);
  }
  call.deadline = run.call.deadline;
  wave_base += block_count_;
}

void FetchPlan::wait(Run& run, int rank, int flag, std::size_t block) const {
  run.block = block;
  wait_for_count(run.transport, rank, flag, run.wave_base + block + 1, run.call);
}

void FetchPlan::sum(Run& run, std::size_t block) {
  const Layout::Range range = block_of(rank_, block);
  if (range.begin == range.end) return;
  run.block = block;
  const std::size_t tensors = layout_.tensor_count();
  for (int rank = 0; rank < rank_count_; ++rank) {
    const std::size_t first = static_cast<std::size_t>(rank) * tensors;
    if (rank == rank_) {
      std::ranges::copy(run.buffers.inputs, &inputs_[first]);
      continue;
    }
    pieces_.clear();
    std::byte* to = copies_.bytes().data() + static_cast<std::size_t>(rank) * block_ * input_bytes_;
    layout_.for_each_segment(range, [&](const Layout::Segment& piece) {
      const std::size_t offset = piece.offset * input_bytes_;
      const std::size_t bytes = piece.count * input_bytes_;
      pieces_.push_back({to, run.buffers.inputs_of_all[first + piece.tensor] + offset, bytes});
      // Where the tensor would begin if all of it were there.
      inputs_[first + piece.tensor] =
          std::bit_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(to) - offset);
      to += bytes;
    });
    run.transport.fetch(rank, pieces_, run.call);
  }
  plan_.run_here(range.begin, range.end, inputs_, run.buffers.outputs, Store::kCached);
}

/// What the others have summed of a block. Whoever has summed it needs no input there any more, so
/// that it may be written over.
void FetchPlan::gather(Run& run, std::size_t block) {
  for (int step = 1; step < rank_count_; ++step) {
    const int rank = (rank_ + step) % rank_count_;
    const Layout::Range range = block_of(rank, block);
    if (range.begin == range.end) continue;
    wait(run, rank, kShareFlag, block);
    pieces_.clear();
    layout_.for_each_segment(range, [&](const Layout::Segment& piece) {
      const std::size_t offset = piece.offset * result_bytes_;
      const std::size_t at = static_cast<std::size_t>(rank) * layout_.tensor_count();
      pieces_.push_back({run.buffers.outputs[piece.tensor] + offset,
                         run.buffers.outputs_of_all[at + piece.tensor] + offset,
                         piece.count * result_bytes_});
    });
    run.transport.fetch(rank, pieces_, run.call);
  }
}

}  // namespace fanin
