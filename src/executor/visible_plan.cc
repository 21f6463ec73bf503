#include "executor/visible_plan.h"

#include <algorithm>
#include <array>

#include "transports/epoch.h"

namespace fanin {
namespace {

// After so many elements others may go first.
constexpr std::size_t kBlockElements = 256 << 10;

constexpr int kSumFlag = Transport::kFirstFreeFlag;

MemoryPlan bind(const ProvedSchedule& schedule, const Layout& layout, const Arithmetic& arithmetic,
                Outputs outputs, Context& context) {
  return {std::array{MemoryPart{&schedule.schedule(), layout,
                                &schedule.memory(outputs, most_nested_sources(arithmetic))}},
          arithmetic, outputs, context};
}

Layout::Range common(const Layout::Range& a, const Layout::Range& b) {
  const std::size_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

}  // namespace

VisiblePlan::VisiblePlan(std::shared_ptr<const ProvedSchedule> schedule, const Layout& layout,
                         const Arithmetic& arithmetic, int rank, Context& context)
    : schedule_(std::move(schedule)),
      layout_(layout),
      into_all_(bind(*schedule_, layout, arithmetic, Outputs::kSeparate, context)),
      into_own_(bind(*schedule_, layout, arithmetic, Outputs::kShared, context)),
      result_bytes_(arithmetic.size_of(Cell::kResult)),
      rank_(rank),
      rank_count_(schedule_->schedule().rank_count) {
  const std::size_t stride = static_cast<std::size_t>(rank_count_) * kLineElements;
  share_ = (layout.element_count() + stride - 1) / stride * kLineElements;
}

Layout::Range VisiblePlan::share_of(int rank) const {
  const std::size_t begin = static_cast<std::size_t>(rank) * share_;
  return common({begin, begin + share_}, {0, layout_.element_count()});
}

void VisiblePlan::run(Transport& transport, std::uint64_t& wave_base, const Buffers& buffers,
                      Call& call) {
  const std::uint64_t wave = ++wave_base;
  const Layout::Range share = share_of(rank_);
  std::size_t at = share.begin;
  do {
    call.give_way();  // without access: whoever gives up waits until nobody has it
    const WriteAccess access = transport.write_access(buffers.renewal_counts, call);
    sum(buffers, common(share, {at, at + kBlockElements}));
    at += kBlockElements;
  } while (at < share.end);
  publish_count(transport, kSumFlag, wave, call);
  wait_for_all(transport, kSumFlag, wave, call);
  if (buffers.kept.empty()) return;
  {
    const WriteAccess access = transport.write_access(buffers.renewal_counts, call);
    copy_kept(buffers);
  }
  publish_count(transport, Transport::kCompletionFlag, wave, call);
  wait_for_all(transport, Transport::kCompletionFlag, wave, call);
}

void VisiblePlan::wait_for_all(Transport& transport, int flag, std::uint64_t count,
                               Call& call) const {
  for (int rank = 0; rank < rank_count_; ++rank)
    if (rank != rank_) wait_for_count(transport, rank, flag, count, call);
}

void VisiblePlan::sum(const Buffers& buffers, const Layout::Range& part) {
  const std::span<std::byte* const> own = buffers.outputs.subspan(
      static_cast<std::size_t>(rank_) * layout_.tensor_count(), layout_.tensor_count());
  // What takes the place of an input was fetched anyway.
  const bool is_in_place = std::ranges::equal(buffers.inputs, buffers.outputs);
  const Store store = is_in_place ? Store::kCached : into_all_.result_store();
  std::size_t at = part.begin;
  for (const Layout::Range& each : buffers.kept) {
    const Layout::Range kept = common(each, part);
    if (kept.begin == kept.end) continue;
    if (at < kept.begin) into_all_.run_here(at, kept.begin, buffers.inputs, buffers.outputs, store);
    into_own_.run_here(kept.begin, kept.end, buffers.inputs, own, Store::kCached);
    at = kept.end;
  }
  if (at < part.end) into_all_.run_here(at, part.end, buffers.inputs, buffers.outputs, store);
}

void VisiblePlan::copy_kept(const Buffers& buffers) const {
  for (int rank = 0; rank < rank_count_; ++rank) {
    if (rank == rank_) continue;
    for (const Layout::Range& each : buffers.kept) {
      layout_.for_each_segment(common(each, share_of(rank)), [&](const Layout::Segment& piece) {
        const auto at = [&](int owner) {
          return buffers.outputs[static_cast<std::size_t>(owner) * layout_.tensor_count() +
                                 piece.tensor] +
                 piece.offset * result_bytes_;
        };
        const std::size_t bytes = piece.count * result_bytes_;
        copy({at(rank_), bytes}, {at(rank), bytes}, Store::kCached);
      });
    }
  }
}

}  // namespace fanin
