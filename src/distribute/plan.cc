#include "fanin/plan.h"

#include <fmt/format.h>

#include <list>
#include <map>
#include <utility>

#include "core/require.h"
#include "distribute/pack_runner.h"
#include "distribute/progress.h"
#include "distribute/reduction_state.h"
#include "executor/memory_plan.h"

namespace fanin {
namespace {

/// Packs of one dtype, which run as one.
struct DTypePlan {
  std::vector<Pack::Piece> pieces;  // of all packs, one after the other
  Arithmetic arithmetic;
  MemoryPlan memory;
  std::vector<const std::byte*> inputs = {};  // [rank * pieces + piece], filled by each run
  std::vector<std::byte*> outputs = {};       // likewise
};

}  // namespace

class Plan::State {
 public:
  State(ReductionPlan plan, ResultBuffers buffers, Context& context)
      : plan_(std::move(plan)),
        buffers_(buffers),
        packs_(make_local_packs(plan_, buffers, context)) {
    find_result_dtypes();
    bind(context);
  }

  State(ReductionPlan plan, Group& group)
      : plan_(std::move(plan)),
        buffers_(ResultBuffers::kShared),
        is_shared_with_others_(true),
        packs_(make_group_packs(plan_, group)) {
    require(plan_.request.topology.worker_count == group.size(), ErrorKind::kBadOption,
            "the plan is for {} workers, but the group has {} ranks; there is one for each worker",
            plan_.request.topology.worker_count, group.size());
    find_result_dtypes();
  }

  const ReductionPlan& plan() const { return plan_; }
  int replica_count() const { return packs_->replica_count(); }
  ResultBuffers buffers() const { return buffers_; }
  DType result_dtype(std::size_t tensor) const { return result_dtypes_.at(tensor); }

  /// inputs: a list of tensors, or of pointers to them.
  void run(auto inputs, std::span<const TensorView> outputs,
           std::optional<std::chrono::duration<double>> timeout) {
    check_inputs(inputs);
    check_outputs(outputs);
    if (is_shared_with_others_) return run_packs(inputs, outputs, timeout);
    RunLimits limits;
    if (timeout) limits.deadline = deadline_after(*timeout);
    const auto replicas = static_cast<std::size_t>(replica_count());
    const auto results = static_cast<std::size_t>(output_replica_count());
    for (DTypePlan& each : by_dtype_) {
      const std::size_t piece_count = each.pieces.size();
      for (std::size_t p = 0; p < piece_count; ++p) {
        const Pack::Piece& piece = each.pieces[p];
        for (std::size_t replica = 0; replica < replicas; ++replica)
          each.inputs[replica * piece_count + p] =
              tensor(inputs[replica * tensor_count() + piece.tensor]).bytes().data() +
              piece.begin * each.arithmetic.size_of(Cell::kInput);
        for (std::size_t replica = 0; replica < results; ++replica)
          each.outputs[replica * piece_count + p] =
              outputs[replica * tensor_count() + piece.tensor].bytes.data() +
              piece.begin * each.arithmetic.size_of(Cell::kResult);
      }
      each.memory.run(each.inputs, each.outputs, limits);
    }
  }

  std::shared_ptr<Reduction::State> start(std::span<const TensorView> outputs,
                                          const ReductionOptions& options) {
    require(under_way_.expired(), ErrorKind::kBadOption,
            "a reduction of this plan is under way; finish it before the next");
    check_outputs(outputs);
    check_priorities(options.priorities);
    auto reduction = std::make_shared<Reduction::State>(*packs_, plan_, outputs, options);
    reduction->start(thread_);
    under_way_ = reduction;
    return reduction;
  }

 private:
  static const Tensor& tensor(const Tensor& input) { return input; }
  static const Tensor& tensor(const Tensor* input) { return *input; }

  std::size_t tensor_count() const { return plan_.request.tensors.size(); }

  int output_replica_count() const {
    return buffers_ == ResultBuffers::kShared ? 1 : replica_count();
  }

  void find_result_dtypes() {
    for (const TensorInfo& tensor : plan_.request.tensors)
      result_dtypes_.push_back(fanin::result_dtype(plan_.request.op, tensor.dtype));
  }

  void run_packs(auto inputs, std::span<const TensorView> outputs,
                 std::optional<std::chrono::duration<double>> timeout) {
    std::vector<Value> values;
    for (const auto& input : inputs) values.emplace_back(tensor(input));
    for (std::size_t pack = 0; pack < plan_.packs.size(); ++pack)
      packs_->run(pack, values, outputs, {.timeout = timeout}, false);
  }

  void bind(Context& context) {
    std::map<std::pair<std::string, int>, Schedule> schedules;
    std::map<DType, std::vector<const PlannedPack*>> by_dtype;
    for (const PlannedPack& each : plan_.packs)
      if (!each.is_sparse) by_dtype[each.pack.dtype].push_back(&each);
    const ReductionRequest& request = plan_.request;
    const int rank_count = request.topology.rank_count();
    for (const auto& [dtype, packs] : by_dtype) {
      std::vector<MemoryPart> parts;
      std::vector<Pack::Piece> pieces;
      for (const PlannedPack* each : packs) {
        const AllReduceSpec::Element& choice = request.choices[each->choice];
        const auto [found, is_new] =
            schedules.try_emplace(std::pair(choice.algorithm, choice.shard_count));
        if (is_new)
          found->second = build_schedule(
              choice.algorithm, {.topology = request.topology, .shard_count = choice.shard_count});
        std::vector<std::size_t> counts;
        for (const Pack::Piece& piece : each->pack.pieces) {
          counts.push_back(piece.count);
          pieces.push_back(piece);
        }
        parts.push_back({&found->second,
                         Layout(std::move(counts), found->second.chunk_count, size_of(dtype)),
                         nullptr});
      }
      const Arithmetic arithmetic =
          make_arithmetic(request.op, dtype, Accumulation::kWide, rank_count);
      const Outputs outputs =
          buffers_ == ResultBuffers::kShared ? Outputs::kShared : Outputs::kSeparate;
      by_dtype_.push_back({.pieces = std::move(pieces),
                           .arithmetic = arithmetic,
                           .memory = MemoryPlan(parts, arithmetic, outputs, context)});
      DTypePlan& bound = by_dtype_.back();
      const std::size_t cells = bound.pieces.size() * static_cast<std::size_t>(rank_count);
      bound.inputs.resize(cells);
      bound.outputs.resize(cells);
    }
  }

  void check_inputs(auto inputs) const {
    require(inputs.size() == static_cast<std::size_t>(replica_count()) * tensor_count(),
            ErrorKind::kBadOption, "{} inputs were given for {} replicas of {} tensors",
            inputs.size(), replica_count(), tensor_count());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const TensorInfo& planned = plan_.request.tensors[i % tensor_count()];
      const Tensor& input = tensor(inputs[i]);
      require(!planned.is_sparse, ErrorKind::kBadOption,
              "{} was planned sparse; use start(), which takes slices", planned.name);
      require(input.dtype() == planned.dtype, ErrorKind::kDtypeMismatch,
              "replica {} gives {} as {}, but {} was planned", i / tensor_count(), planned.name,
              name(input.dtype()), name(planned.dtype));
      if (input.shape() != planned.shape)
        throw InvalidArgument(
            ErrorKind::kShapeMismatch,
            fmt::format("replica {} gives {} in shape {}, but {} was planned", i / tensor_count(),
                        planned.name, to_string(input.shape()), to_string(planned.shape)));
    }
  }

  void check_outputs(std::span<const TensorView> outputs) const {
    const auto results = static_cast<std::size_t>(output_replica_count());
    require(outputs.size() == results * tensor_count(), ErrorKind::kBadOption,
            "{} outputs were given for {} tensors of {}", outputs.size(), tensor_count(),
            buffers_ == ResultBuffers::kShared ? "one buffer each" : "a buffer for each replica");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::size_t which = i % tensor_count();
      const TensorInfo& planned = plan_.request.tensors[which];
      if (planned.is_sparse) continue;
      require(outputs[i].dtype == result_dtypes_[which], ErrorKind::kDtypeMismatch,
              "the output for {} is {}, but the result is {}", planned.name, name(outputs[i].dtype),
              name(result_dtypes_[which]));
      const std::size_t bytes = planned.shape.element_count() * size_of(result_dtypes_[which]);
      require(outputs[i].bytes.size() == bytes, ErrorKind::kShapeMismatch,
              "the output for {} has {} bytes, but the result has {}", planned.name,
              outputs[i].bytes.size(), bytes);
    }
  }

  void check_priorities(std::span<const int> priorities) const {
    require(priorities.empty() || priorities.size() == tensor_count(), ErrorKind::kBadOption,
            "{} priorities were given for {} tensors; give one for each, or none",
            priorities.size(), tensor_count());
    for (std::size_t i = 0; i < priorities.size(); ++i)
      require(priorities[i] >= 0, ErrorKind::kBadOption,
              "the priority of {} is {}; it must be 0 or more, where 0 is the usual one",
              plan_.request.tensors[i].name, priorities[i]);
  }

  ReductionPlan plan_;
  ResultBuffers buffers_;
  std::vector<DType> result_dtypes_;
  bool is_shared_with_others_ = false;  // by a group
  std::list<DTypePlan> by_dtype_;       // empty if so
  std::unique_ptr<PackRunner> packs_;
  std::weak_ptr<Reduction::State> under_way_;
  Progress thread_;  // of reductions; ends before the rest goes
};

Plan::Plan(ReductionPlan plan, ResultBuffers buffers, Context& context)
    : state_(std::make_unique<State>(std::move(plan), buffers, context)) {}

Plan::Plan(ReductionPlan plan, Group& group)
    : state_(std::make_unique<State>(std::move(plan), group)) {}

Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

const ReductionPlan& Plan::explain() const { return state_->plan(); }

int Plan::replica_count() const { return state_->replica_count(); }

ResultBuffers Plan::buffers() const { return state_->buffers(); }

DType Plan::result_dtype(std::size_t tensor) const { return state_->result_dtype(tensor); }

void Plan::run(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
               std::optional<std::chrono::duration<double>> timeout) {
  state_->run(inputs, outputs, timeout);
}

void Plan::run(std::span<const Tensor* const> inputs, std::span<const TensorView> outputs,
               std::optional<std::chrono::duration<double>> timeout) {
  state_->run(inputs, outputs, timeout);
}

Reduction Plan::start(std::span<const TensorView> outputs, const ReductionOptions& options) {
  return Reduction(state_->start(outputs, options));
}

}  // namespace fanin
