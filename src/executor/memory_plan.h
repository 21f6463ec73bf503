#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor/layout.h"
#include "executor/proved_schedule.h"
#include "executor/run_limits.h"
#include "fanin/context.h"
#include "fanin/schedule.h"
#include "kernels/arithmetic.h"
#include "kernels/fold.h"
#include "kernels/ready_sum.h"
#include "schedule/memory_program.h"

namespace fanin {

/// One of several collectives that run as one: its schedule, and where its chunks lie. Parts of one
/// schedule point to the same object, which is then proved once.
struct MemoryPart {
  const Schedule* schedule;
  Layout layout;
  /// What has been proved of it, if it has been.
  const MemoryPrograms* programs = nullptr;
};

/// Schedules bound to data that one process sees whole: flat arrays, replayed without searching,
/// planning or allocating. Chunks never meet, so any range of elements is independent work and the
/// threads split the elements. The bits depend on schedule, layout and inputs alone.
class MemoryPlan {
 public:
  /// All parts have as many ranks. Their tensors are counted on, from part to part. Where the goal
  /// gives ranks parts of the data there is one part. Throws as below.
  MemoryPlan(std::span<const MemoryPart> parts, const Arithmetic& arithmetic, Outputs outputs,
             Context& context, Lowering lowering = Lowering::kFused);

  /// Proves the schedule and what it is lowered to; throws InvalidArgument (kBadSchedule) with the
  /// sentence of find_error() otherwise.
  MemoryPlan(const Schedule& schedule, const Layout& layout, const Arithmetic& arithmetic,
             Outputs outputs, Context& context, Lowering lowering = Lowering::kFused);

  /// inputs[rank * tensor_count + tensor], and the outputs likewise (only those of the first rank
  /// that wants one if they are shared). Where the goal gives ranks parts of the data, an input or
  /// output is only what its rank holds or wants, and there is one tensor. An output may be an
  /// input's memory where the dtypes are equal and the lowering is not literal. One run at a time.
  /// Ends early, with DeadlineExceeded or Cancelled and outputs that are not whole, when the
  /// deadline passes or somebody asks it to stop; not if it is done by then.
  void run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
           const RunLimits& limits = {});

  /// The same for some elements of the row of all, on the caller's thread.
  void run_here(std::size_t begin, std::size_t end, std::span<const std::byte* const> inputs,
                std::span<std::byte* const> outputs, Store store) {
    if (ready_ && store == Store::kCached) return run_ready(begin, end, inputs, outputs);
    run_range(begin, end, scratch_.front(), inputs, outputs, store);
  }

  /// How to store results that do not take the place of inputs: for the whole of the data.
  Store result_store() const { return result_store_; }

  std::size_t element_count() const { return element_count_; }

 private:
  struct BoundOperation {
    std::uint32_t first_source, source_count;
    std::uint32_t first_target, target_count;
    std::uint32_t first_group, group_count;  // in groups_
    std::uint32_t first_join, join_count;    // likewise
    bool finishes;
    bool copies_result;  // its only source is a finished sum
  };
  struct BoundProgram {
    std::uint32_t first_operation, operation_count;
  };
  /// Neighbouring elements of one tensor that run the same program.
  struct BoundSegment {
    std::size_t begin;  // in the row of all elements
    std::size_t count;
    std::size_t tensor;
    std::size_t offset;  // of its first element in the tensor
    std::uint32_t program;
    std::uint32_t first_shift;  // in shifts_, for goals of parts
  };
  /// What one thread writes while it runs.
  struct ThreadScratch {
    std::vector<Operand> operands;
    std::vector<std::byte*> targets;
    Buffer partials;
  };

  /// The programs of a schedule's chunks, as numbers in programs_, where `known` are those so far.
  std::vector<std::uint32_t> bind_programs(const MemoryPrograms& programs,
                                           std::vector<MemoryProgram>& known);
  void bind(const MemoryProgram& program);
  /// The data that was bound so far is `row_begin` elements of `first_tensor` tensors.
  void bind_segments(const Layout& layout, int chunk, std::uint32_t program, std::size_t row_begin,
                     std::size_t first_tensor);
  void bind_shifts(const Schedule& schedule, const Layout& layout);
  void bind_ready_sum();
  void run_ready(std::size_t begin, std::size_t end, std::span<const std::byte* const> inputs,
                 std::span<std::byte* const> outputs);
  void run_range(std::size_t begin, std::size_t end, ThreadScratch& scratch,
                 std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                 Store store);
  void run_operation(const BoundOperation& operation, const BoundSegment& segment,
                     std::size_t offset, std::size_t count, ThreadScratch& scratch,
                     std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     Store store) const;

  Arithmetic arithmetic_;
  Context& context_;
  std::size_t scratch_cell_bytes_;
  std::size_t element_count_ = 0;
  std::size_t tensor_count_ = 0;
  int scratch_count_ = 0;
  std::size_t bytes_moved_ = 0;
  Store result_store_ = Store::kCached;
  std::vector<Ref> refs_;
  std::vector<std::uint8_t> groups_;  // sizes, and joins
  std::vector<BoundOperation> operations_;
  std::vector<BoundProgram> programs_;
  std::vector<BoundSegment> segments_;
  /// Goals of parts: for each chunk and rank, how far its elements lie further down in the row of
  /// all than in the rank's input, and than in its output.
  struct Shift {
    std::size_t input;
    std::size_t output;
  };
  std::vector<Shift> shifts_;
  std::uint32_t shift_stride_ = 0;
  std::vector<ThreadScratch> scratch_;
  std::optional<ReadySum> ready_;  // if one such sum of one tensor is all there is to do
};

}  // namespace fanin
