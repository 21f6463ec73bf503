#include "training/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "distribute/divided.h"
#include "fanin/aggregate.h"
#include "fanin/aggregator.h"
#include "fanin/automatic_packing.h"
#include "fanin/clipping.h"
#include "fanin/context.h"
#include "fanin/resync.h"

namespace fanin::training {
namespace {

std::vector<TensorInfo> infos_of(std::span<const ParameterInfo> parameters) {
  std::vector<TensorInfo> tensors;
  for (const ParameterInfo& each : parameters)
    tensors.push_back({each.name, DType::kFloat32, each.shape, each.is_sparse});
  return tensors;
}

ReductionPlan plan_of(Group& group, const TrainOptions& options,
                      std::span<const ParameterInfo> parameters) {
  const std::vector<TensorInfo> tensors = infos_of(parameters);
  AutomaticPacking packing{options.bytes_per_pack, ""};
  if (options.bytes_per_pack == 0) {
    std::size_t bytes = 0;
    for (const TensorInfo& tensor : tensors) bytes += tensor.is_sparse ? 0 : tensor.byte_count();
    packing = choose_packing(bytes, measure_pack_cost(group));
  }
  ReductionPlan plan = plan_reduction({.op = ReduceOp::kMean,
                                       .topology = {group.size(), options.devices_per_worker},
                                       .tensors = tensors,
                                       .packing = {.bytes_per_pack = packing.bytes_per_pack},
                                       .choices = options.spec.elements()});
  if (!packing.reason.empty()) plan.notes.push_back(packing.reason);
  return plan;
}

/// Memory for one tensor like each parameter, or none for those that are not wanted.
class Tensors {
 public:
  template <typename Allocate, typename IsWanted>
  Tensors(std::span<const ParameterInfo> parameters, Allocate allocate, IsWanted is_wanted) {
    for (const ParameterInfo& each : parameters) {
      const std::size_t bytes =
          is_wanted(each) ? each.shape.element_count() * sizeof(float) : std::size_t{0};
      buffers.push_back(allocate(bytes));
      views.push_back({buffers.back().bytes(), DType::kFloat32, each.shape});
    }
  }
  std::vector<Buffer> buffers;
  std::vector<TensorView> views;
};

bool is_dense(const ParameterInfo& parameter) { return !parameter.is_sparse; }

Buffer allocate_here(std::size_t bytes) { return Context::process().buffers().allocate(bytes); }

}  // namespace

void StepTimes::add(const StepTimes& other) {
  whole += other.whole;
  computing += other.computing;
  reducing += other.reducing;
  updating += other.updating;
  waiting += other.waiting;
  step_count += other.step_count;
}

double StepTimes::overlap() const {
  if (reducing.count() == 0) return 0;
  const double shown = static_cast<double>(waiting.count()) / static_cast<double>(reducing.count());
  return std::clamp(1 - shown, 0.0, 1.0);
}

class Worker::State {
 public:
  State(Group& group, const Digits& digits, const TrainOptions& options)
      : group_(group),
        options_(options),
        infos_(digits_parameters(options.width)),
        parameters_(
            infos_, [&](std::size_t bytes) { return group.allocate(bytes); },
            [](const ParameterInfo&) { return true; }),
        optimizer_(prepare_parameters(), options.optimizer),
        plan_(plan_of(group, options, infos_), group) {
    const int batch = check(options, digits.train.size());
    part_size_ = static_cast<std::size_t>(batch / options.replica_count() / options.pass_count);
    for (int device = 0; device < options.devices_per_worker; ++device) {
      models_.push_back(
          std::make_unique<DigitsModel>(digits, parameters_.views, part_size_, options.method));
      // The sums take the place of the first replica's gradients.
      const auto allocate = [&](std::size_t bytes) {
        return device == 0 ? group_.allocate(bytes) : allocate_here(bytes);
      };
      gradients_.emplace_back(infos_, allocate, is_dense);
    }
    for (int device = 0; options.trace != nullptr && device < options.devices_per_worker; ++device)
      tracks_.push_back(
          options.trace->add_track(fmt::format("worker {} device {}", group.rank(), device)));
    if (options.trace != nullptr)
      plan_track_ = options.trace->add_track(fmt::format("worker {} all-reduce", group.rank()));
  }

  Step step(std::span<const std::size_t> images, std::int64_t number) {
    const TraceClock::time_point begin = TraceClock::now();
    Reduction sums =
        plan_.start(gradients_.front().views,
                    {.step = number, .plan_track = plan_track_, .caller_track = track(0)});
    if (!options_.clip_norm)
      for (std::size_t i = 0; i < infos_.size(); ++i)
        sums.then(i, [this, i](const Value& sum) { optimizer_.apply(i, sum); });
    Step result{compute(images, number, sums), {}};
    result.times.computing = TraceClock::now() - begin;
    sums.finish();
    const ReductionTimes times = sums.times();
    result.times.reducing = times.reducing;
    result.times.updating = times.applying;
    result.times.waiting = times.waiting;
    if (options_.clip_norm) {
      const TraceClock::time_point clipping = TraceClock::now();
      update_clipped(sums);
      result.times.updating += TraceClock::now() - clipping;
    }
    result.times.whole = TraceClock::now() - begin;
    result.times.step_count = 1;
    return result;
  }

  Score evaluate(std::span<const std::size_t> images) {
    std::vector<std::size_t> mine;
    for (std::size_t i = static_cast<std::size_t>(group_.rank()); i < images.size();
         i += static_cast<std::size_t>(group_.size()))
      mine.push_back(images[i]);
    return sum(mine.empty() ? Score() : models_.front()->evaluate(mine));
  }

  Score sum(const Score& mine) {
    const auto images = static_cast<double>(mine.image_count);
    const std::vector<double> all =
        group_
            .all_reduce(Tensor::of(
                {mine.loss * images, static_cast<double>(mine.correct_count), images}, Shape{3}))
            .to_vector<double>();
    return {.loss = all[0] / all[2],
            .correct_count = static_cast<std::size_t>(all[1]),
            .image_count = static_cast<std::size_t>(all[2])};
  }

  std::uint64_t check_equal() { return require_equal(group_, parameters_.views); }
  const ReductionPlan& plan() const { return plan_.explain(); }

  std::size_t registered_bytes() const {
    if (group_.transport() != "shared-memory") return 0;
    std::size_t bytes = 0;
    for (const Tensors* each : {&parameters_, &gradients_.front()})
      for (const Buffer& buffer : each->buffers) bytes += buffer.size();
    return bytes;
  }

 private:
  std::vector<TensorView> prepare_parameters() {
    initialize_digits(parameters_.views, options_.seed);
    return parameters_.views;
  }

  TraceTrack* track(std::size_t device) const {
    return tracks_.empty() ? nullptr : tracks_[device];
  }

  /// Runs all replicas, each on one thread, and gives the mean of their scores. The first error of
  /// a replica ends the step of all.
  Score compute(std::span<const std::size_t> images, std::int64_t number, Reduction& sums) {
    const std::size_t devices = models_.size();
    std::vector<Score> scores(devices);
    std::mutex mutex;
    std::exception_ptr error;
    const std::size_t threads =
        options_.thread_count == 0
            ? devices
            : std::min(static_cast<std::size_t>(options_.thread_count), devices);
    const auto work = [&](std::size_t first) {
      try {
        for (std::size_t device = first; device < devices; device += threads)
          scores[device] = run_replica(device, images, number, sums);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
      work(0);
    }
    if (error) std::rethrow_exception(error);
    Score all;
    for (const Score& score : scores) {
      all.loss += score.loss / static_cast<double>(devices);
      all.correct_count += score.correct_count;
      all.image_count += score.image_count;
    }
    return all;
  }

  Score run_replica(std::size_t device, std::span<const std::size_t> images, std::int64_t number,
                    Reduction& sums) {
    const auto passes = static_cast<std::size_t>(options_.pass_count);
    const std::size_t replica = static_cast<std::size_t>(group_.rank()) * models_.size() + device;
    const std::span<const std::size_t> mine =
        images.subspan(replica * passes * part_size_, passes * part_size_);
    if (passes > 1) return run_passes(device, mine, number, sums);
    const Score score = forward(device, mine, number);
    const TraceSpan span(track(device), "backward", "backward", {{"step", number}});
    models_[device]->backward(gradients_[device].views, [&](std::size_t i, Value gradient) {
      sums.push(i, std::move(gradient), static_cast<int>(device));
    });
    return score;
  }

  Score forward(std::size_t device, std::span<const std::size_t> images, std::int64_t number) {
    const TraceSpan span(track(device), "forward", "forward", {{"step", number}});
    return models_[device]->forward(images);
  }

  /// Several passes, whose gradients are terms of one sum. Each pass has memory of its own, which
  /// the sum lets go of as soon as it can.
  Score run_passes(std::size_t device, std::span<const std::size_t> images, std::int64_t number,
                   Reduction& sums) {
    const int passes = options_.pass_count;
    std::vector<std::unique_ptr<Aggregator>> aggregators;
    for (std::size_t i = 0; i < infos_.size(); ++i)
      aggregators.push_back(std::make_unique<Aggregator>(passes, options_.method));
    Score all;
    for (int pass = 0; pass < passes; ++pass) {
      Tensors places(infos_, allocate_here, is_dense);
      const Score score = forward(
          device, images.subspan(static_cast<std::size_t>(pass) * part_size_, part_size_), number);
      all.loss += score.loss / passes;
      all.correct_count += score.correct_count;
      all.image_count += score.image_count;
      const TraceSpan span(track(device), "backward", "backward",
                           {{"step", number}, {"pass", pass}});
      models_[device]->backward(places.views, [&](std::size_t i, Value gradient) {
        if (!infos_[i].is_sparse)
          gradient = Tensor(std::move(places.buffers[i]), DType::kFloat32, infos_[i].shape);
        aggregators[i]->push(pass, std::move(gradient));
        if (pass + 1 == passes) sums.push(i, mean_of(*aggregators[i]), static_cast<int>(device));
      });
    }
    return all;
  }

  Value mean_of(Aggregator& terms) const {
    Value sum = *terms.finish();
    const auto passes = static_cast<std::size_t>(options_.pass_count);
    if (auto* const dense = std::get_if<Tensor>(&sum)) return divided(*dense, passes);
    auto& slices = std::get<IndexedSlices>(sum);
    slices.values = divided(slices.values, passes);
    return slices;
  }

  /// The norm is that of all gradients, so no parameter can be updated before the last sum.
  void update_clipped(Reduction& sums) {
    std::vector<Value> all;
    std::vector<Buffer> slices;  // of the sparse ones, whose rows are summed first
    std::vector<TensorView> views;
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      Value sum = sums.wait(i);
      if (!infos_[i].is_sparse) {
        views.push_back(gradients_.front().views[i]);
      } else {
        auto rows = coalesce(std::get<IndexedSlices>(sum));
        Buffer& copy = slices.emplace_back(allocate_here(rows.values.bytes().size()));
        std::ranges::copy(rows.values.bytes(), copy.bytes().begin());
        views.push_back({copy.bytes(), DType::kFloat32, rows.values.shape()});
        rows.values = Tensor::view(copy.bytes(), DType::kFloat32, rows.values.shape());
        sum = rows;
      }
      all.push_back(std::move(sum));
    }
    clip_by_global_norm(views, *options_.clip_norm);
    for (std::size_t i = 0; i < infos_.size(); ++i) optimizer_.apply(i, all[i]);
  }

  Group& group_;
  const TrainOptions options_;
  const std::vector<ParameterInfo> infos_;
  Tensors parameters_;
  Optimizer optimizer_;
  Plan plan_;
  std::size_t part_size_ = 0;  // images of one pass of one replica
  std::vector<std::unique_ptr<DigitsModel>> models_;
  std::vector<Tensors> gradients_;
  std::vector<TraceTrack*> tracks_;
  TraceTrack* plan_track_ = nullptr;
};

Worker::Worker(Group& group, const Digits& digits, const TrainOptions& options)
    : state_(std::make_unique<State>(group, digits, options)) {}
Worker::~Worker() = default;

Worker::Step Worker::step(std::span<const std::size_t> images, std::int64_t number) {
  return state_->step(images, number);
}
Score Worker::evaluate(std::span<const std::size_t> images) { return state_->evaluate(images); }
Score Worker::sum(const Score& mine) { return state_->sum(mine); }
std::uint64_t Worker::check_equal() { return state_->check_equal(); }
const ReductionPlan& Worker::plan() const { return state_->plan(); }
std::size_t Worker::registered_bytes() const { return state_->registered_bytes(); }

}  // namespace fanin::training
