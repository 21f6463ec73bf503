#include <algorithm>
#include <vector>

#include "distribute/across_workers.h"
#include "distribute/divided.h"
#include "distribute/pack_runner.h"
#include "distribute/sparse_gather.h"
#include "fanin/add_n.h"
#include "kernels/fold.h"

namespace fanin {
namespace {

/// Components of a PerReplica live on devices of their own.
Tensor on_replica(const Tensor& tensor, std::size_t replica) {
  Device device = tensor.device();
  device.index = static_cast<int>(replica);
  return tensor.on(device);
}

class GroupPacks : public PackRunner, public PackStarter {
 public:
  GroupPacks(const ReductionPlan& plan, Group& group) : plan_(plan), group_(group) {}

  int replica_count() const override { return plan_.request.topology.devices_per_worker; }

  std::optional<IndexedSlices> run(std::size_t pack, std::span<const Value> inputs,
                                   std::span<const TensorView> outputs,
                                   const ReductionOptions& options, bool in_background) override {
    if (plan_.packs[pack].is_sparse) return join(pack, inputs, options, in_background);
    AllReduceOptions how = between_workers(pack, options);
    how.in_background = in_background;
    const std::vector<TensorView> results = pieces_of(pack, outputs);
    if (can_start(pack)) {
      group_.all_reduce(terms_of(pack, inputs, results), results, how);
      complete(pack, outputs);
    } else {
      reduce_beside(pack, inputs, results, how);
    }
    return std::nullopt;
  }

  PackStarter* starter() override { return this; }

  bool can_start(std::size_t pack) const override {
    if (plan_.packs[pack].is_sparse) return false;
    const Arithmetic arithmetic = arithmetic_of(pack);
    return replica_count() == 1 || travelling_dtype(arithmetic) == arithmetic.result;
  }

  Handle start(std::size_t pack, std::span<const Value> inputs, std::span<const TensorView> outputs,
               const ReductionOptions& options) override {
    const AllReduceOptions how = between_workers(pack, options);
    const std::vector<TensorView> results = pieces_of(pack, outputs);
    return group_.start_all_reduce(terms_of(pack, inputs, results), results, how);
  }

  /// Divides, where only sums have travelled.
  void complete(std::size_t pack, std::span<const TensorView> outputs) override {
    if (!divides_at_the_end()) return;
    for (const TensorView& result : pieces_of(pack, outputs))
      pass(arithmetic_of(pack), std::vector<Operand>{{result.bytes.data(), Cell::kPartial}}, result,
           Cell::kResult);
  }

  void begin_step() override { epoch_ = group_.epoch(); }
  void refuse(std::string_view sentence) override { group_.refuse(sentence, epoch_); }
  bool serves_threads() const override { return group_.serves_threads(); }

 private:
  AllReduceOptions between_workers(std::size_t pack, const ReductionOptions& options) const {
    AllReduceOptions how;
    const ReductionRequest& request = plan_.request;
    how.algorithm =
        request.between_processes.empty()
            ? algorithm_between_workers(request.choices[plan_.packs[pack].choice].algorithm)
            : request.between_processes;
    how.op = divides_at_the_end() ? ReduceOp::kSum : plan_.request.op;
    how.step = options.step;
    how.timeout = options.timeout;
    how.priority = priority_of(plan_.packs[pack], options);
    how.epoch = epoch_;
    how.label = label_of(pack);
    return how;
  }

  std::string label_of(std::size_t pack) const {
    return pack_label(static_cast<std::ptrdiff_t>(pack), plan_.packs.size());
  }

  bool divides_at_the_end() const {
    return replica_count() > 1 && plan_.request.op == ReduceOp::kMean;
  }

  Arithmetic arithmetic_of(std::size_t pack) const {
    return make_arithmetic(plan_.request.op, plan_.packs[pack].pack.dtype, Accumulation::kWide,
                           plan_.request.topology.rank_count());
  }

  std::vector<Tensor> pieces_of(std::size_t pack, std::span<const Value> inputs,
                                std::size_t replica) const {
    std::vector<Tensor> pieces;
    for (const Pack::Piece& piece : plan_.packs[pack].pack.pieces) {
      const auto& whole =
          std::get<Tensor>(inputs[replica * plan_.request.tensors.size() + piece.tensor]);
      const std::size_t size = size_of(whole.dtype());
      pieces.push_back(Tensor::view(whole.bytes().subspan(piece.begin * size, piece.count * size),
                                    whole.dtype(), Shape{static_cast<std::int64_t>(piece.count)}));
    }
    return pieces;
  }

  std::vector<TensorView> pieces_of(std::size_t pack, std::span<const TensorView> outputs) const {
    std::vector<TensorView> pieces;
    for (const Pack::Piece& piece : plan_.packs[pack].pack.pieces) {
      const TensorView& whole = outputs[piece.tensor];
      const std::size_t size = size_of(whole.dtype);
      pieces.push_back({whole.bytes.subspan(piece.begin * size, piece.count * size), whole.dtype,
                        Shape{static_cast<std::int64_t>(piece.count)}});
    }
    return pieces;
  }

  /// What this worker gives. Several replicas are summed where the result will be: no memory but
  /// the output's.
  std::vector<Tensor> terms_of(std::size_t pack, std::span<const Value> inputs,
                               std::span<const TensorView> results) const {
    if (replica_count() == 1) return pieces_of(pack, inputs, 0);
    const Arithmetic arithmetic = arithmetic_of(pack);
    std::vector<std::vector<Tensor>> terms;
    for (std::size_t replica = 0; replica < static_cast<std::size_t>(replica_count()); ++replica)
      terms.push_back(pieces_of(pack, inputs, replica));
    std::vector<Tensor> sums;
    for (std::size_t p = 0; p < results.size(); ++p) {
      std::vector<Operand> sources;
      sources.reserve(terms.size());
      for (const std::vector<Tensor>& each : terms)
        sources.push_back({each[p].bytes().data(), Cell::kInput});
      pass(arithmetic, sources, results[p], Cell::kPartial);
      sums.push_back(Tensor::view(results[p].bytes, results[p].dtype, results[p].shape));
    }
    return sums;
  }

  static void pass(const Arithmetic& arithmetic, std::span<const Operand> sources,
                   const TensorView& to, Cell cell) {
    std::byte* const target = to.bytes.data();
    fold(arithmetic, {.sources = sources,
                      .group_sizes = add_n_groups(sources.size()),
                      .targets = {&target, 1},
                      .target_cell = cell,
                      .count = to.shape.element_count()});
  }

  /// For dtypes whose partial sums are wider than they.
  void reduce_beside(std::size_t pack, std::span<const Value> inputs,
                     std::span<const TensorView> results, const AllReduceOptions& how) {
    std::vector<std::vector<Tensor>> terms;
    for (std::size_t replica = 0; replica < static_cast<std::size_t>(replica_count()); ++replica)
      terms.push_back(pieces_of(pack, inputs, replica));
    std::vector<PerReplica> values;
    for (std::size_t p = 0; p < results.size(); ++p) {
      std::vector<Value> components;
      for (std::size_t replica = 0; replica < terms.size(); ++replica)
        components.emplace_back(on_replica(terms[replica][p], replica));
      values.emplace_back(std::move(components));
    }
    std::vector<const PerReplica*> pointers;
    pointers.reserve(values.size());
    for (const PerReplica& value : values) pointers.push_back(&value);
    const std::vector<Tensor> sums = reduce_across(
        group_, plan_.request.op, pointers, {.num_packs = 1}, [&](std::size_t) { return how; });
    for (std::size_t p = 0; p < results.size(); ++p)
      std::ranges::copy(sums[p].bytes(), results[p].bytes.begin());
  }

  IndexedSlices join(std::size_t pack, std::span<const Value> inputs,
                     const ReductionOptions& options, bool in_background) {
    std::vector<std::optional<Value>> terms;
    for (std::size_t at = plan_.packs[pack].pack.pieces.front().tensor; at < inputs.size();
         at += plan_.request.tensors.size())
      terms.emplace_back(inputs[at]);
    IndexedSlices all = gather_slices(group_, std::get<IndexedSlices>(*add_n(terms)),
                                      {.step = options.step,
                                       .timeout = options.timeout,
                                       .in_background = in_background,
                                       .epoch = epoch_,
                                       .label = label_of(pack)});
    if (plan_.request.op == ReduceOp::kMean)
      all.values =
          divided(all.values, static_cast<std::size_t>(plan_.request.topology.rank_count()));
    return all;
  }

  const ReductionPlan& plan_;
  Group& group_;
  std::uint64_t epoch_ = 0;  // of the step that is under way
};

}  // namespace

int priority_of(const PlannedPack& pack, const ReductionOptions& options) {
  int highest = 0;
  for (const Pack::Piece& piece : pack.pack.pieces)
    if (!options.priorities.empty()) highest = std::max(highest, options.priorities[piece.tensor]);
  return highest;
}

std::unique_ptr<PackRunner> make_group_packs(const ReductionPlan& plan, Group& group) {
  return std::make_unique<GroupPacks>(plan, group);
}

}  // namespace fanin
