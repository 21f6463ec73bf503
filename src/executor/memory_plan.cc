#include "executor/memory_plan.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <set>

#include "core/require.h"
#include "core/thread_pool.h"
#include "kernels/parallel_fold.h"
#include "schedule/goal.h"

namespace fanin {
namespace {

// Partials of a program with several operations stay in L1: elements of a block.
constexpr std::size_t kBlock = 2048;

// How far a thread goes before it looks whether it should stop: below a millisecond.
constexpr std::size_t kSliceElements = std::size_t{64} << 10;

}  // namespace

MemoryPlan::MemoryPlan(const Schedule& schedule, const Layout& layout, const Arithmetic& arithmetic,
                       Outputs outputs, Context& context, Lowering lowering)
    : MemoryPlan(std::array{MemoryPart{&schedule, layout, nullptr}}, arithmetic, outputs, context,
                 lowering) {}

MemoryPlan::MemoryPlan(std::span<const MemoryPart> parts, const Arithmetic& arithmetic,
                       Outputs outputs, Context& context, Lowering lowering)
    : arithmetic_(arithmetic),
      context_(context),
      scratch_cell_bytes_(
          std::max(arithmetic.size_of(Cell::kPartial), arithmetic.size_of(Cell::kResult))) {
  const bool is_literal = lowering == Lowering::kLiteral;
  require(!is_literal || outputs == Outputs::kSeparate, ErrorKind::kBadOption,
          "a literal run gives every rank an output of its own; outputs cannot be shared");

  std::vector<MemoryProgram> known;  // by number in programs_
  std::map<const Schedule*, std::vector<std::uint32_t>> programs_of;
  for (const auto& [schedule, layout, proved] : parts) {
    const auto [found, is_new] = programs_of.try_emplace(schedule);
    if (is_new)
      found->second = bind_programs(
          proved != nullptr
              ? *proved
              : prove_for_memory(*schedule, outputs, lowering, most_nested_sources(arithmetic)),
          known);
    if (part_count(schedule->goal, schedule->rank_count) > 1) bind_shifts(*schedule, layout);
    for (int chunk = 0; chunk < schedule->chunk_count; ++chunk)
      bind_segments(layout, chunk, found->second[static_cast<std::size_t>(chunk)], element_count_,
                    tensor_count_);
    element_count_ += layout.element_count();
    tensor_count_ += layout.tensor_count();
  }

  // What is written literally is soon read again.
  result_store_ = is_literal ? Store::kCached : store_for(bytes_moved_);
  scratch_.resize(static_cast<std::size_t>(context.thread_count()));
  for (ThreadScratch& scratch : scratch_) {
    for (const BoundOperation& operation : operations_) {
      scratch.operands.resize(
          std::max<std::size_t>(scratch.operands.size(), operation.source_count));
      scratch.targets.resize(std::max<std::size_t>(scratch.targets.size(), operation.target_count));
    }
    scratch.partials = context.buffers().allocate(static_cast<std::size_t>(scratch_count_) *
                                                  kBlock * scratch_cell_bytes_);
  }
  bind_ready_sum();
}

void MemoryPlan::bind_ready_sum() {
  if (tensor_count_ != 1 || segments_.size() != 1 || !shifts_.empty()) return;
  const BoundProgram& program = programs_[segments_.front().program];
  if (program.operation_count != 1) return;
  const BoundOperation& operation = operations_[program.first_operation];
  const auto refs = std::span(refs_);
  const bool sums_inputs =
      std::ranges::all_of(refs.subspan(operation.first_source, operation.source_count),
                          [](const Ref& ref) { return ref.kind == Ref::Kind::kInput; });
  if (!sums_inputs || !operation.finishes || operation.group_count > 0 || operation.join_count > 0)
    return;
  ready_ = ReadySum::of(arithmetic_, operation.source_count, operation.target_count);
}

void MemoryPlan::run_ready(std::size_t begin, std::size_t end,
                           std::span<const std::byte* const> inputs,
                           std::span<std::byte* const> outputs) {
  const std::size_t input_offset = begin * arithmetic_.size_of(Cell::kInput);
  const std::size_t output_offset = begin * arithmetic_.size_of(Cell::kResult);
  const BoundOperation& operation =
      operations_[programs_[segments_.front().program].first_operation];
  const Ref* const sources = &refs_[operation.first_source];
  for (std::uint32_t i = 0; i < operation.source_count; ++i)
    ready_->source(i) = inputs[static_cast<std::size_t>(sources[i].rank)] + input_offset;
  const Ref* const targets = &refs_[operation.first_target];
  for (std::uint32_t i = 0; i < operation.target_count; ++i)
    ready_->target(i) = outputs[static_cast<std::size_t>(targets[i].rank)] + output_offset;
  ready_->run(end - begin);
}

std::vector<std::uint32_t> MemoryPlan::bind_programs(const MemoryPrograms& programs,
                                                     std::vector<MemoryProgram>& known) {
  std::vector<std::uint32_t> numbers;
  for (const MemoryProgram& program : programs.programs) {
    const auto found = std::ranges::find(known, program);
    numbers.push_back(static_cast<std::uint32_t>(found - known.begin()));
    if (found != known.end()) continue;
    scratch_count_ = std::max(scratch_count_, program.scratch_count);
    bind(program);
    known.push_back(program);
  }
  std::vector<std::uint32_t> of_chunk;
  of_chunk.reserve(programs.of_chunk.size());
  for (const std::uint32_t program : programs.of_chunk) of_chunk.push_back(numbers[program]);
  return of_chunk;
}

void MemoryPlan::bind(const MemoryProgram& program) {
  const auto size = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  programs_.push_back({size(operations_), size(program.operations)});
  std::set<Ref> results;  // scratch and outputs that hold finished sums
  for (const Operation& operation : program.operations) {
    BoundOperation bound{};
    bound.first_source = size(refs_);
    bound.source_count = size(operation.sources);
    refs_.insert(refs_.end(), operation.sources.begin(), operation.sources.end());
    bound.first_target = size(refs_);
    bound.target_count = size(operation.targets);
    refs_.insert(refs_.end(), operation.targets.begin(), operation.targets.end());
    bound.first_group = size(groups_);
    bound.group_count = size(operation.group_sizes);
    groups_.insert(groups_.end(), operation.group_sizes.begin(), operation.group_sizes.end());
    bound.first_join = size(groups_);
    bound.join_count = size(operation.joins);
    groups_.insert(groups_.end(), operation.joins.begin(), operation.joins.end());
    bound.finishes = operation.finishes;
    bound.copies_result = results.contains(operation.sources.front());
    for (const Ref& target : operation.targets)
      if (operation.finishes)
        results.insert(target);
      else
        results.erase(target);
    operations_.push_back(bound);
  }
}

void MemoryPlan::bind_shifts(const Schedule& schedule, const Layout& layout) {
  require(layout.tensor_count() == 1, ErrorKind::kBadSchedule,
          "the goal {} is for one tensor, got {}", name(schedule.goal), layout.tensor_count());
  const auto rank_count = static_cast<std::size_t>(schedule.rank_count);
  std::vector<Shift> filled(rank_count);  // elements of each rank's input and output so far
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    const Layout::Range range = layout.chunk(chunk);
    for (int rank = 0; rank < schedule.rank_count; ++rank) {
      Shift& so_far = filled[static_cast<std::size_t>(rank)];
      shifts_.push_back({range.begin - so_far.input, range.begin - so_far.output});
      if (holds(schedule, rank, chunk)) so_far.input += range.end - range.begin;
      if (wants(schedule, rank, chunk)) so_far.output += range.end - range.begin;
    }
  }
  shift_stride_ = static_cast<std::uint32_t>(rank_count);
}

void MemoryPlan::bind_segments(const Layout& layout, int chunk, std::uint32_t program,
                               std::size_t row_begin, std::size_t first_tensor) {
  const Layout::Range range = layout.chunk(chunk);
  const std::uint32_t first_shift = static_cast<std::uint32_t>(chunk) * shift_stride_;
  std::size_t begin = row_begin + range.begin;
  layout.for_each_segment(range, [&](const Layout::Segment& segment) {
    const std::size_t tensor = first_tensor + segment.tensor;
    if (!segments_.empty() && segments_.back().tensor == tensor &&
        segments_.back().program == program && shifts_.empty()) {
      segments_.back().count += segment.count;  // equal neighbours join
    } else {
      segments_.push_back({begin, segment.count, tensor, segment.offset, program, first_shift});
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

void MemoryPlan::run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     const RunLimits& limits) {
  limits.check();
  const int part_count = bytes_moved_ <= kOneThreadBytes ? 1 : context_.thread_count();
  if (ready_ && part_count == 1 && !limits.are_set() && result_store_ == Store::kCached)
    return run_ready(0, element_count_, inputs, outputs);
  const auto cut = [&](int part) {  // borders on a cache line of the smallest type
    const auto parts = static_cast<std::size_t>(part_count);
    const auto index = static_cast<std::size_t>(part);
    return index == parts ? element_count_ : element_count_ / parts * index / 64 * 64;
  };
  const std::size_t slice = limits.are_set() ? kSliceElements : element_count_;
  std::atomic<bool> is_whole = true;
  context_.threads().run(part_count, [&](int part) {
    const std::size_t end = cut(part + 1);
    for (std::size_t at = cut(part); at < end; at += slice) {
      if (limits.are_over()) {
        is_whole = false;
        return;
      }
      run_range(at, at + std::min(slice, end - at), scratch_[static_cast<std::size_t>(part)],
                inputs, outputs, result_store_);
    }
  });
  if (!is_whole) limits.check();
}

void MemoryPlan::run_range(std::size_t begin, std::size_t end, ThreadScratch& scratch,
                           std::span<const std::byte* const> inputs,
                           std::span<std::byte* const> outputs, Store store) {
  auto segment = segments_.cbegin();
  if (segments_.size() > 1) {
    segment = std::ranges::upper_bound(segments_, begin, {}, &BoundSegment::begin);
    if (segment != segments_.begin()) --segment;
  }
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
                      inputs, outputs, store);
    }
  }
}

void MemoryPlan::run_operation(const BoundOperation& operation, const BoundSegment& segment,
                               std::size_t offset, std::size_t count, ThreadScratch& scratch,
                               std::span<const std::byte* const> inputs,
                               std::span<std::byte* const> outputs, Store store) const {
  // Short operations spend much of their time here: nothing is computed or read for each reference
  // that could be for all.
  const std::size_t input_bytes = arithmetic_.size_of(Cell::kInput);
  const std::size_t result_bytes = arithmetic_.size_of(Cell::kResult);
  const std::byte* const* const tensor_inputs = inputs.data() + segment.tensor;
  std::byte* const* const tensor_outputs = outputs.data() + segment.tensor;
  const std::size_t tensor_count = tensor_count_;
  const std::size_t input_offset = offset * input_bytes;
  const std::size_t output_offset = offset * result_bytes;
  const Shift* const shifts = shifts_.empty() ? nullptr : &shifts_[segment.first_shift];
  const auto output_at = [&](const Ref& ref) {
    const auto rank = static_cast<std::size_t>(ref.rank);
    std::byte* const at = tensor_outputs[rank * tensor_count] + output_offset;
    return shifts == nullptr ? at : at - shifts[rank].output * result_bytes;
  };
  const auto scratch_at = [&](const Ref& ref) {
    return scratch.partials.bytes().data() +
           static_cast<std::size_t>(ref.index) * kBlock * scratch_cell_bytes_;
  };
  Operand* operand = scratch.operands.data();
  for (const Ref& ref : std::span(refs_).subspan(operation.first_source, operation.source_count)) {
    if (ref.kind == Ref::Kind::kInput) {
      const auto rank = static_cast<std::size_t>(ref.rank);
      const std::byte* const at = tensor_inputs[rank * tensor_count] + input_offset;
      *operand++ = {shifts == nullptr ? at : at - shifts[rank].input * input_bytes, Cell::kInput};
    } else {
      *operand++ = {ref.kind == Ref::Kind::kOutput ? output_at(ref) : scratch_at(ref),
                    Cell::kPartial};
    }
  }
  std::byte** target = scratch.targets.data();
  for (const Ref& ref : std::span(refs_).subspan(operation.first_target, operation.target_count))
    *target++ = ref.kind == Ref::Kind::kOutput ? output_at(ref) : scratch_at(ref);
  if (operation.copies_result) {
    const std::size_t bytes = count * arithmetic_.size_of(Cell::kResult);
    for (std::uint32_t i = 0; i < operation.target_count; ++i)
      copy({scratch.targets[i], bytes}, {scratch.operands.front().data, bytes}, Store::kCached);
    return;
  }
  fold(arithmetic_,
       {.sources = std::span(scratch.operands).first(operation.source_count),
        .group_sizes = std::span(groups_).subspan(operation.first_group, operation.group_count),
        .joins = std::span(groups_).subspan(operation.first_join, operation.join_count),
        .targets = std::span(scratch.targets).first(operation.target_count),
        .target_cell = operation.finishes ? Cell::kResult : Cell::kPartial,
        .count = count,
        .store = operation.finishes ? store : Store::kCached});
}

}  // namespace fanin
