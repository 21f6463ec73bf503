#include <vector>

#include "distribute/divided.h"
#include "distribute/pack_runner.h"
#include "executor/memory_plan.h"
#include "fanin/add_n.h"

namespace fanin {
namespace {

class LocalPacks : public PackRunner {
 public:
  LocalPacks(const ReductionPlan& plan, ResultBuffers buffers, Context& context)
      : plan_(plan), buffers_(buffers), context_(context), bound_(plan.packs.size()) {}

  int replica_count() const override { return plan_.request.topology.rank_count(); }

  std::optional<IndexedSlices> run(std::size_t pack, std::span<const Value> inputs,
                                   std::span<const TensorView> outputs,
                                   const ReductionOptions& options,
                                   bool /*in_background*/) override {
    if (plan_.packs[pack].is_sparse) return join(pack, inputs);
    Bound& bound = bind(pack);
    const std::vector<Pack::Piece>& pieces = plan_.packs[pack].pack.pieces;
    const std::size_t tensors = plan_.request.tensors.size();
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const std::size_t in = pieces[p].begin * bound.arithmetic.size_of(Cell::kInput);
      for (std::size_t i = p, at = pieces[p].tensor; i < bound.inputs.size();
           i += pieces.size(), at += tensors)
        bound.inputs[i] = std::get<Tensor>(inputs[at]).bytes().data() + in;
      const std::size_t out = pieces[p].begin * bound.arithmetic.size_of(Cell::kResult);
      for (std::size_t i = p, at = pieces[p].tensor; at < outputs.size();
           i += pieces.size(), at += tensors)
        bound.outputs[i] = outputs[at].bytes.data() + out;
    }
    RunLimits limits;
    if (options.timeout) limits.deadline = deadline_after(*options.timeout);
    bound.memory->run(bound.inputs, bound.outputs, limits);
    return std::nullopt;
  }

  bool serves_threads() const override { return true; }

 private:
  /// A pack and where its data lies, filled in by each run: [rank * pieces + piece].
  struct Bound {
    Arithmetic arithmetic;
    std::optional<MemoryPlan> memory;
    std::vector<const std::byte*> inputs = {};
    std::vector<std::byte*> outputs = {};
  };

  Bound& bind(std::size_t index) {
    Bound& bound = bound_[index];
    if (bound.memory) return bound;
    const PlannedPack& each = plan_.packs[index];
    const AllReduceSpec::Element& choice = plan_.request.choices[each.choice];
    const Schedule schedule = build_schedule(
        choice.algorithm, {.topology = plan_.request.topology, .shard_count = choice.shard_count});
    std::vector<std::size_t> counts;
    for (const Pack::Piece& piece : each.pack.pieces) counts.push_back(piece.count);
    bound.arithmetic =
        make_arithmetic(plan_.request.op, each.pack.dtype, Accumulation::kWide, replica_count());
    const std::size_t cells = counts.size() * static_cast<std::size_t>(replica_count());
    bound.memory.emplace(
        schedule, Layout(std::move(counts), schedule.chunk_count, size_of(each.pack.dtype)),
        bound.arithmetic,
        buffers_ == ResultBuffers::kShared ? Outputs::kShared : Outputs::kSeparate, context_);
    bound.inputs.resize(cells);
    bound.outputs.resize(cells);
    return bound;
  }

  IndexedSlices join(std::size_t pack, std::span<const Value> inputs) const {
    std::vector<std::optional<Value>> terms;
    for (std::size_t at = plan_.packs[pack].pack.pieces.front().tensor; at < inputs.size();
         at += plan_.request.tensors.size())
      terms.emplace_back(inputs[at]);
    auto sum = std::get<IndexedSlices>(*add_n(terms));
    if (plan_.request.op == ReduceOp::kMean) sum.values = divided(sum.values, terms.size());
    return sum;
  }

  const ReductionPlan& plan_;
  ResultBuffers buffers_;
  Context& context_;
  std::vector<Bound> bound_;  // by pack, when first needed
};

}  // namespace

std::unique_ptr<PackRunner> make_local_packs(const ReductionPlan& plan, ResultBuffers buffers,
                                             Context& context) {
  return std::make_unique<LocalPacks>(plan, buffers, context);
}

}  // namespace fanin
