#include "fanin/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/require.h"
#include "distribute/reduction_state.h"

namespace fanin {
namespace {

constexpr std::chrono::duration<double> kPushTimeout = std::chrono::minutes(5);

/// Adds the time from its making to its end; to be ended with the lock.
class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::nanoseconds& total) : total_(total) {}
  ~Stopwatch() { total_ += TraceClock::now() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds& total_;
  TraceClock::time_point begin_ = TraceClock::now();
};

/// Tensors that have elements in the pack, each once.
std::vector<std::size_t> tensors_of(const Pack& pack) {
  std::vector<std::size_t> tensors;
  for (const Pack::Piece& piece : pack.pieces)
    if (std::ranges::find(tensors, piece.tensor) == tensors.end()) tensors.push_back(piece.tensor);
  return tensors;
}

}  // namespace

Reduction::State::State(PackRunner& runner, const ReductionPlan& plan,
                        std::span<const TensorView> outputs, const ReductionOptions& options)
    : runner_(runner),
      plan_(plan),
      outputs_(outputs.begin(), outputs.end()),
      options_(options),
      has_thread_(runner.serves_threads()) {
  const std::size_t tensors = plan.request.tensors.size();
  const auto replicas = static_cast<std::size_t>(runner.replica_count());
  inputs_.resize(replicas * tensors);
  is_pushed_.resize(replicas * tensors);
  open_packs_.resize(tensors);
  sums_.resize(tensors);
  applies_.resize(tensors);
  packs_of_.resize(tensors);
  for (std::size_t pack = 0; pack < plan.packs.size(); ++pack) {
    const std::vector<std::size_t> members = tensors_of(plan.packs[pack].pack);
    missing_.push_back(members.size() * replicas);
    for (const std::size_t tensor : members) {
      ++open_packs_[tensor];
      packs_of_[tensor].push_back(pack);
    }
  }
  // A tensor without elements may be in no pack.
  for (std::size_t tensor = 0; tensor < tensors; ++tensor)
    if (open_packs_[tensor] == 0) {
      const TensorView& out = outputs_[tensor];
      sums_[tensor] = Tensor::view(out.bytes, out.dtype, plan.request.tensors[tensor].shape);
    }
}

void Reduction::State::check(std::size_t tensor, const Value& gradient, int replica) const {
  const std::size_t count = plan_.request.tensors.size();
  require(tensor < count, ErrorKind::kBadOption,
          "gradient {} was pushed, but the plan has {}; they count from 0", tensor, count);
  require(replica >= 0 && replica < runner_.replica_count(), ErrorKind::kBadOption,
          "replica {} was named, but this process has {}; they count from 0", replica,
          runner_.replica_count());
  const TensorInfo& planned = plan_.request.tensors[tensor];
  require(!is_pushed_[static_cast<std::size_t>(replica) * count + tensor], ErrorKind::kBadOption,
          "{} of replica {} was pushed twice; sum its terms before", planned.name, replica);
  const auto* const dense = std::get_if<Tensor>(&gradient);
  require((dense == nullptr) == planned.is_sparse, ErrorKind::kSparseMismatch,
          "{} is {}, but was planned {}", planned.name, dense == nullptr ? "sparse" : "dense",
          planned.is_sparse ? "sparse" : "dense");
  const DType dtype =
      dense == nullptr ? std::get<IndexedSlices>(gradient).values.dtype() : dense->dtype();
  require(dtype == planned.dtype, ErrorKind::kDtypeMismatch,
          "{} of replica {} is {}, but {} was planned", planned.name, replica, name(dtype),
          name(planned.dtype));
  if (dense != nullptr && dense->shape() != planned.shape)
    throw InvalidArgument(
        ErrorKind::kShapeMismatch,
        fmt::format("{} of replica {} has shape {}, but {} was planned", planned.name, replica,
                    to_string(dense->shape()), to_string(planned.shape)));
}

void Reduction::State::push(std::size_t tensor, Value gradient, int replica) {
  const std::lock_guard lock(mutex_);
  check(tensor, gradient, replica);
  const std::size_t at = static_cast<std::size_t>(replica) * plan_.request.tensors.size() + tensor;
  inputs_[at] = std::move(gradient);
  is_pushed_[at] = true;
  bool has_filled = false;
  for (const std::size_t pack : packs_of_[tensor]) has_filled |= --missing_[pack] == 0;
  if (has_filled) changed_.notify_all();
}

void Reduction::State::then(std::size_t tensor, Apply apply) {
  const std::lock_guard lock(mutex_);
  require(tensor < applies_.size(), ErrorKind::kBadOption,
          "gradient {} was named, but the plan has {}; they count from 0", tensor, applies_.size());
  require(!applies_[tensor], ErrorKind::kBadOption,
          "the sum of {} is applied already; give one function for each gradient",
          plan_.request.tensors[tensor].name);
  applies_[tensor] = std::move(apply);
  if (sums_[tensor]) to_apply_.push_back(tensor);
  changed_.notify_all();
}

void Reduction::State::fail(std::exception_ptr error) {
  if (!error_) error_ = std::move(error);
  to_apply_.clear();
}

void Reduction::State::run_pack(Lock& lock, TraceTrack* track) {
  const Stopwatch stopwatch(times_.reducing);
  const std::size_t pack = done_packs_;
  ++busy_count_;
  is_running_ = true;
  lock.unlock();
  std::optional<IndexedSlices> sum;
  std::exception_ptr error;
  try {
    const TraceSpan span(track, "pack", fmt::format("pack {}", pack),
                         {{"bytes", static_cast<std::int64_t>(plan_.packs[pack].pack.byte_count())},
                          {"step", options_.step.value_or(0)}});
    sum = runner_.run(pack, inputs_, outputs_, options_, has_thread_);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  --busy_count_;
  is_running_ = false;
  if (error)
    fail(std::move(error));
  else
    mark_done(pack, std::move(sum));
  changed_.notify_all();
}

void Reduction::State::mark_done(std::size_t pack, std::optional<IndexedSlices> sum) {
  ++done_packs_;
  for (const std::size_t tensor : tensors_of(plan_.packs[pack].pack)) {
    if (--open_packs_[tensor] > 0) continue;
    if (sum)
      sums_[tensor] = std::move(*sum);
    else
      sums_[tensor] = Tensor::view(outputs_[tensor].bytes, outputs_[tensor].dtype,
                                   plan_.request.tensors[tensor].shape);
    // Whoever lent the memory of a gradient may use it again.
    for (std::size_t at = tensor; at < inputs_.size(); at += sums_.size()) inputs_[at] = Tensor();
    if (applies_[tensor] && !error_) to_apply_.push_back(tensor);
  }
}

void Reduction::State::apply_next(Lock& lock, TraceTrack* track) {
  const Stopwatch stopwatch(times_.applying);
  const std::size_t tensor = to_apply_.front();
  to_apply_.pop_front();
  ++busy_count_;
  const Apply apply = applies_[tensor];
  const Value sum = *sums_[tensor];
  lock.unlock();
  std::exception_ptr error;
  try {
    const TraceSpan span(track, "update", plan_.request.tensors[tensor].name,
                         {{"step", options_.step.value_or(0)}});
    apply(sum);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  --busy_count_;
  if (error) {
    fail(std::move(error));
    if (!cancelled_) cancelled_ = "an update failed there";
  } else {
    applied_.push_back(tensor);
  }
  changed_.notify_all();
}

void Reduction::State::start(Progress& thread) {
  if (has_thread_) thread_ = thread.submit(0, [this] { run(); });
}

void Reduction::State::run() {
  Lock lock(mutex_);
  for (;;) {
    if (cancelled_)
      return tell_others(lock);
    else if (!is_over() && is_full(done_packs_))
      run_pack(lock, options_.plan_track);
    else if (!to_apply_.empty())
      apply_next(lock, options_.plan_track);
    else if (is_over())
      return;
    else
      changed_.wait(lock);
  }
}

/// They may be in the next pack already.
void Reduction::State::tell_others(Lock& lock) {
  if (done_packs_ == plan_.packs.size()) return;
  const std::string sentence = *cancelled_;
  lock.unlock();
  try {
    runner_.refuse(sentence);
  } catch (const Error&) {
    // The group has an error of its own, which its next call gives.
  }
  lock.lock();
}

template <typename IsDone>
void Reduction::State::help_until(Lock& lock, IsDone is_done) {
  const auto timeout = options_.timeout.value_or(kPushTimeout);
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::nanoseconds>(timeout);
  while (!is_done()) {
    if (error_) std::rethrow_exception(error_);
    if (!to_apply_.empty()) {
      apply_next(lock, options_.caller_track);
      continue;
    }
    const Stopwatch stopwatch(times_.waiting);
    if (!has_thread_ && !is_running_ && !is_over() && is_full(done_packs_)) {
      run_pack(lock, options_.caller_track);
      continue;
    }
    const TraceSpan span(options_.caller_track, "wait", "wait",
                         {{"pack", static_cast<std::int64_t>(done_packs_)}});
    if (is_running_ || busy_count_ > 0 || is_over() || is_full(done_packs_)) {
      changed_.wait(lock);  // for work that has a deadline of its own
    } else if (changed_.wait_until(lock, deadline) == std::cv_status::timeout &&
               !is_full(done_packs_)) {
      throw DeadlineExceeded(fmt::format("{} within {:g} s", describe_missing(), timeout.count()));
    }
  }
}

std::string Reduction::State::describe_missing() const {
  for (std::size_t at = 0; at < is_pushed_.size(); ++at)
    if (!is_pushed_[at])
      return fmt::format("{} of replica {} was not pushed",
                         plan_.request.tensors[at % sums_.size()].name, at / sums_.size());
  return "";
}

Value Reduction::State::wait(std::size_t tensor) {
  Lock lock(mutex_);
  require(tensor < sums_.size(), ErrorKind::kBadOption,
          "gradient {} was named, but the plan has {}; they count from 0", tensor, sums_.size());
  help_until(lock, [&] { return sums_[tensor].has_value(); });
  return *sums_[tensor];
}

void Reduction::State::wait_for_pack(std::size_t pack) {
  Lock lock(mutex_);
  help_until(lock, [&] { return done_packs_ > pack; });
}

void Reduction::State::finish() {
  Lock lock(mutex_);
  if (!error_ && !cancelled_) {
    const std::string missing = describe_missing();
    require(missing.empty(), ErrorKind::kBadOption, "{}; push every gradient before finish()",
            missing);
  }
  help_until(lock, [&] {
    return !error_ && done_packs_ == plan_.packs.size() && to_apply_.empty() && busy_count_ == 0;
  });
}

std::vector<std::size_t> Reduction::State::applied() const {
  const std::lock_guard lock(mutex_);
  return applied_;
}

ReductionTimes Reduction::State::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

void Reduction::State::cancel(std::string_view sentence) {
  const std::lock_guard lock(mutex_);
  if (is_over()) return;
  cancelled_ = sentence;
  fail(std::make_exception_ptr(Cancelled(fmt::format("the step was ended: {}", sentence))));
  changed_.notify_all();
}

void Reduction::State::close() {
  Lock lock(mutex_);
  if (const std::string missing = describe_missing(); !missing.empty()) {
    lock.unlock();
    cancel(missing);
    lock.lock();
  }
  while (!has_thread_ && !is_over() && !cancelled_) run_pack(lock, nullptr);
  if (!has_thread_ && cancelled_) tell_others(lock);
  lock.unlock();
  if (thread_) thread_->wait();
  lock.lock();
  // Others may still apply a sum.
  changed_.wait(lock, [&] { return busy_count_ == 0; });
}

Reduction::Reduction(Reduction&&) noexcept = default;

Reduction::~Reduction() {
  if (state_) state_->close();
}

void Reduction::push(std::size_t tensor, Value gradient, int replica) {
  state_->push(tensor, std::move(gradient), replica);
}

void Reduction::then(std::size_t tensor, Apply apply) { state_->then(tensor, std::move(apply)); }

void Reduction::update(Variable variable, UpdateFn fn, std::size_t tensor) {
  state_->then(tensor, [variable = std::move(variable), fn = std::move(fn)](const Value& sum) {
    Variable target = variable;
    target.assign_each(
        [&](const Device& /*device*/, const Tensor& value) { return fn(value, sum); });
  });
}

Value Reduction::wait(std::size_t tensor) { return state_->wait(tensor); }
void Reduction::finish() { state_->finish(); }
std::vector<std::size_t> Reduction::applied() const { return state_->applied(); }
ReductionTimes Reduction::times() const { return state_->times(); }
void Reduction::cancel(std::string_view sentence) { state_->cancel(sentence); }

const PlannedPack& Reduction::Iterator::operator*() const {
  reduction_->state_->wait_for_pack(pack_);
  return reduction_->state_->plan().packs[pack_];
}

Reduction::Iterator Reduction::end() { return {*this, state_->plan().packs.size()}; }

}  // namespace fanin
