#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "fanin/context.h"
#include "fanin/group.h"
#include "fanin/indexed_slices.h"
#include "fanin/plan.h"
#include "fanin/reduction.h"

namespace fanin {

/// The largest of its tensors'.
int priority_of(const PlannedPack& pack, const ReductionOptions& options);

/// Begins packs that can be under way two at once.
class PackStarter {
 public:
  virtual ~PackStarter() = default;

  /// Others are only run, as a whole.
  virtual bool can_start(std::size_t pack) const = 0;

  /// The pack is done after complete(), to be called when the handle is done; inputs and outputs as
  /// those of PackRunner::run(), which must stay as they are until then.
  virtual Handle start(std::size_t pack, std::span<const Value> inputs,
                       std::span<const TensorView> outputs, const ReductionOptions& options) = 0;
  virtual void complete(std::size_t pack, std::span<const TensorView> outputs) = 0;
};

/// Reduces the packs of a plan, one by one.
class PackRunner {
 public:
  virtual ~PackRunner() = default;

  /// Whose gradients this process gives.
  virtual int replica_count() const = 0;

  /// Reduces a pack. inputs[replica * tensors + tensor] are those of all tensors, of which only the
  /// pack's are looked at; outputs likewise, or one for each tensor if they are shared. A sparse
  /// pack has no output, and its sum is returned. `in_background`: as that of AllReduceOptions.
  virtual std::optional<IndexedSlices> run(std::size_t pack, std::span<const Value> inputs,
                                           std::span<const TensorView> outputs,
                                           const ReductionOptions& options, bool in_background) = 0;

  /// Null: packs cannot be started.
  virtual PackStarter* starter() { return nullptr; }

  /// A step begins: all its packs, or none after the first that fails.
  virtual void begin_step() {}

  /// Tells other processes, which may be in the next pack, why this one does not come.
  virtual void refuse(std::string_view /*sentence*/) {}

  /// Whether packs may run on another thread than the caller's.
  virtual bool serves_threads() const = 0;
};

/// All replicas are of this process.
std::unique_ptr<PackRunner> make_local_packs(const ReductionPlan& plan, ResultBuffers buffers,
                                             Context& context);

/// The replicas of this process are those of one worker: its rank in the group.
std::unique_ptr<PackRunner> make_group_packs(const ReductionPlan& plan, Group& group);

}  // namespace fanin
