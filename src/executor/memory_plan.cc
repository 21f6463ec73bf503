#include "executor/memory_plan.h"

#include <algorithm>

#include "core/require.h"
#include "core/thread_pool.h"
#include "kernels/parallel_fold.h"

namespace fanin {
namespace {

// Partials of a program with several operations stay in L1: elements of a block.
constexpr std::size_t kBlock = 2048;

}  // namespace

MemoryPlan::MemoryPlan(const Schedule& schedule, const Layout& layout, const Arithmetic& arithmetic,
                       Outputs outputs, Context& context)
    : arithmetic_(arithmetic),
      context_(context),
      element_count_(layout.element_count()),
      tensor_count_(layout.tensor_count()) {
  if (const auto error = find_error(schedule))
    throw InvalidArgument(ErrorKind::kBadSchedule, *error);

  std::vector<MemoryProgram> known;  // by number in programs_
  int scratch_count = 0;
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    MemoryProgram program = lower_to_memory(schedule, chunk, outputs);
    auto found = std::ranges::find(known, program);
    if (found == known.end()) {
      if (const auto error = find_error(program, schedule, chunk, outputs))
        throw InvalidArgument(ErrorKind::kBadSchedule,
                              fmt::format("{}: {}", schedule.name, *error));
      scratch_count = std::max(scratch_count, program.scratch_count);
      bind(program);
      found = known.insert(known.end(), std::move(program));
    }
    bind_segments(layout, layout.chunk(chunk), static_cast<std::uint32_t>(found - known.begin()));
  }

  scratch_.resize(static_cast<std::size_t>(context.thread_count()));
  for (ThreadScratch& scratch : scratch_) {
    for (const BoundOperation& operation : operations_) {
      scratch.operands.resize(
          std::max<std::size_t>(scratch.operands.size(), operation.source_count));
      scratch.targets.resize(std::max<std::size_t>(scratch.targets.size(), operation.target_count));
    }
    scratch.partials = context.buffers().allocate(static_cast<std::size_t>(scratch_count) * kBlock *
                                                  arithmetic.size_of(Cell::kPartial));
  }
}

std::uint32_t MemoryPlan::bind(const MemoryProgram& program) {
  const auto size = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  programs_.push_back({size(operations_), size(program.operations)});
  for (const Operation& operation : program.operations) {
    BoundOperation bound{};
    bound.first_source = size(refs_);
    bound.source_count = size(operation.sources);
    refs_.insert(refs_.end(), operation.sources.begin(), operation.sources.end());
    bound.first_target = size(refs_);
    bound.target_count = size(operation.targets);
    refs_.insert(refs_.end(), operation.targets.begin(), operation.targets.end());
    bound.first_group = size(group_sizes_);
    bound.group_count = size(operation.group_sizes);
    group_sizes_.insert(group_sizes_.end(), operation.group_sizes.begin(),
                        operation.group_sizes.end());
    bound.finishes = operation.finishes;
    operations_.push_back(bound);
  }
  return size(programs_) - 1;
}

void MemoryPlan::bind_segments(const Layout& layout, Layout::Range range, std::uint32_t program) {
  std::size_t begin = range.begin;
  layout.for_each_segment(range, [&](const Layout::Segment& segment) {
    if (!segments_.empty() && segments_.back().tensor == segment.tensor &&
        segments_.back().program == program) {
      segments_.back().count += segment.count;  // equal neighbours join
    } else {
      segments_.push_back({begin, segment.count, segment.tensor, segment.offset, program});
    }
    begin += segment.count;
  });
  const BoundProgram& bound = programs_[program];
  for (std::uint32_t i = 0; i < bound.operation_count; ++i) {
    const BoundOperation& operation = operations_[bound.first_operation + i];
    for (std::uint32_t r = 0; r < operation.source_count + operation.target_count; ++r) {
      const Ref::Kind kind = refs_[operation.first_source + r].kind;
      if (kind != Ref::Kind::kScratch)
        bytes_moved_ +=
            (range.end - range.begin) *
            arithmetic_.size_of(kind == Ref::Kind::kInput ? Cell::kInput : Cell::kResult);
    }
  }
}

void MemoryPlan::run(std::span<const std::byte* const> inputs,
                     std::span<std::byte* const> outputs) {
  const int part_count = bytes_moved_ <= kOneThreadBytes ? 1 : context_.thread_count();
  const auto cut = [&](int part) {  // borders on a cache line of the smallest type
    const auto parts = static_cast<std::size_t>(part_count);
    const auto index = static_cast<std::size_t>(part);
    return index == parts ? element_count_ : element_count_ / parts * index / 64 * 64;
  };
  context_.threads().run(part_count, [&](int part) {
    run_range(cut(part), cut(part + 1), scratch_[static_cast<std::size_t>(part)], inputs, outputs);
  });
}

void MemoryPlan::run_range(std::size_t begin, std::size_t end, ThreadScratch& scratch,
                           std::span<const std::byte* const> inputs,
                           std::span<std::byte* const> outputs) {
  auto segment = std::ranges::upper_bound(segments_, begin, {}, &BoundSegment::begin);
  if (segment != segments_.begin()) --segment;
  for (; segment != segments_.end() && segment->begin < end; ++segment) {
    const BoundProgram& program = programs_[segment->program];
    const std::size_t first = std::max(begin, segment->begin);
    const std::size_t last = std::min(end, segment->begin + segment->count);
    // One operation needs no scratch, so no blocks.
    const std::size_t step = program.operation_count == 1 ? last - first : kBlock;
    for (std::size_t at = first; at < last; at += step) {
      const std::size_t offset = at - segment->begin + segment->offset;
      const std::size_t count = std::min(step, last - at);
      for (std::uint32_t i = 0; i < program.operation_count; ++i)
        run_operation(operations_[program.first_operation + i], *segment, offset, count, scratch,
                      inputs, outputs);
    }
  }
}

void MemoryPlan::run_operation(const BoundOperation& operation, const BoundSegment& segment,
                               std::size_t offset, std::size_t count, ThreadScratch& scratch,
                               std::span<const std::byte* const> inputs,
                               std::span<std::byte* const> outputs) const {
  const auto partial = [&](const Ref& ref) {
    return scratch.partials.bytes().data() +
           static_cast<std::size_t>(ref.index) * kBlock * arithmetic_.size_of(Cell::kPartial);
  };
  const auto tensor_of = [&](const Ref& ref) {
    return static_cast<std::size_t>(ref.rank) * tensor_count_ + segment.tensor;
  };
  for (std::uint32_t i = 0; i < operation.source_count; ++i) {
    const Ref& ref = refs_[operation.first_source + i];
    scratch.operands[i] =
        ref.kind == Ref::Kind::kInput
            ? Operand{inputs[tensor_of(ref)] + offset * arithmetic_.size_of(Cell::kInput),
                      Cell::kInput}
            : Operand{partial(ref), Cell::kPartial};
  }
  for (std::uint32_t i = 0; i < operation.target_count; ++i) {
    const Ref& ref = refs_[operation.first_target + i];
    scratch.targets[i] = ref.kind == Ref::Kind::kOutput
                             ? outputs[tensor_of(ref)] + offset * arithmetic_.size_of(Cell::kResult)
                             : partial(ref);
  }
  fold(
      arithmetic_,
      {.sources = std::span(scratch.operands).first(operation.source_count),
       .group_sizes = std::span(group_sizes_).subspan(operation.first_group, operation.group_count),
       .targets = std::span(scratch.targets).first(operation.target_count),
       .target_cell = operation.finishes ? Cell::kResult : Cell::kPartial,
       .count = count,
       .store = operation.finishes ? store_for(bytes_moved_) : Store::kCached});
}

}  // namespace fanin
