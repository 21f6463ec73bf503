#include "executor/visible_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "transports/epoch.h"

namespace fanin {
namespace {

// What all ranks together sum in one wave: a few waves stay in the cache that the cores share.
constexpr std::size_t kSharedWaveBytes = 512 << 10;
constexpr std::size_t kLineElements = 64;  // a whole number of lines for every type

constexpr int kSumFlag = Transport::kFirstFreeFlag;

}  // namespace

/// What one call hands down.
struct VisiblePlan::Run {
  Transport& transport;
  std::uint64_t wave_base;
  std::span<std::byte* const> outputs;
  Call call;
  std::size_t wave = 0;
};

VisiblePlan::VisiblePlan(std::shared_ptr<const ProvedSchedule> schedule, const Layout& layout,
                         const Arithmetic& arithmetic, int rank, Context& context)
    : schedule_(std::move(schedule)),
      layout_(layout),
      memory_(std::array{MemoryPart{&schedule_->schedule(), layout,
                                    &schedule_->shared_memory(most_nested_sources(arithmetic))}},
              arithmetic, Outputs::kShared, context),
      result_bytes_(arithmetic.size_of(Cell::kResult)),
      rank_(rank),
      rank_count_(schedule_->schedule().rank_count) {
  const std::size_t cell_bytes = std::max(arithmetic.size_of(Cell::kInput), result_bytes_);
  const auto ranks = static_cast<std::size_t>(rank_count_);
  share_ = std::max(kSharedWaveBytes / cell_bytes / ranks / kLineElements, std::size_t{1}) *
           kLineElements;
  // What is short is one wave, which all share.
  const std::size_t even = (layout.element_count() + ranks - 1) / ranks;
  share_ = std::min(
      share_, std::max((even + kLineElements - 1) / kLineElements, std::size_t{1}) * kLineElements);
  wave_count_ = (layout.element_count() + ranks * share_ - 1) / (ranks * share_);
}

Layout::Range VisiblePlan::share_of(std::size_t wave, int rank) const {
  const std::size_t begin =
      (wave * static_cast<std::size_t>(rank_count_) + static_cast<std::size_t>(rank)) * share_;
  return {std::min(begin, layout_.element_count()),
          std::min(begin + share_, layout_.element_count())};
}

void VisiblePlan::run(Transport& transport, std::uint64_t& wave_base,
                      std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                      Call& call) {
  Run run{transport, wave_base, outputs, call};
  const auto describe = [&] {
    return fmt::format("{} (block {} of {})", call.describe(), run.wave + 1, wave_count_);
  };
  run.call.describe = std::cref(describe);
  const std::span<std::byte* const> own = outputs.subspan(
      static_cast<std::size_t>(rank_) * layout_.tensor_count(), layout_.tensor_count());
  for (std::size_t wave = 0; wave < wave_count_; ++wave) {
    const auto [begin, end] = share_of(wave, rank_);
    memory_.run_here(begin, end, inputs, own);
    publish_count(transport, kSumFlag, wave_base + wave + 1, call);
    if (wave > 0) copy_wave(run, wave - 1);
  }
  if (wave_count_ > 0) {
    copy_wave(run, wave_count_ - 1);
    publish_count(transport, Transport::kCompletionFlag, wave_base + wave_count_, call);
    for (int rank = 0; rank < rank_count_; ++rank)
      if (rank != rank_) wait(run, rank, Transport::kCompletionFlag, wave_count_ - 1);
  }
  call.deadline = run.call.deadline;
  wave_base += wave_count_;
}

void VisiblePlan::wait(Run& run, int rank, int flag, std::size_t wave) const {
  run.wave = wave;
  wait_for_count(run.transport, rank, flag, run.wave_base + wave + 1, run.call);
}

void VisiblePlan::copy_wave(Run& run, std::size_t wave) const {
  for (int step = 1; step < rank_count_; ++step) {
    const int rank = (rank_ + step) % rank_count_;
    const Layout::Range share = share_of(wave, rank);
    if (share.begin == share.end) continue;
    wait(run, rank, kSumFlag, wave);
    layout_.for_each_segment(share, [&](const Layout::Segment& piece) {
      const auto at = [&](int owner) {
        return run.outputs[static_cast<std::size_t>(owner) * layout_.tensor_count() +
                           piece.tensor] +
               piece.offset * result_bytes_;
      };
      const std::size_t bytes = piece.count * result_bytes_;
      copy({at(rank_), bytes}, {at(rank), bytes}, Store::kCached);
    });
  }
}

}  // namespace fanin
