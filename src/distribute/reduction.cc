#include "fanin/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/require.h"
#include "core/yield_while_idle.h"
#include "distribute/handle_state.h"
#include "distribute/reduction_state.h"

namespace fanin {
namespace {

constexpr std::chrono::duration<double> kPushTimeout = std::chrono::minutes(5);
constexpr std::chrono::microseconds kIdleTime(500);

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
      has_thread_(runner.serves_threads()),
      starter_(runner.starter()) {
  runner.begin_step();
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
    priorities_.push_back(priority_of(plan.packs[pack], options));
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
  if (has_filled) notify();
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
  notify();
}

void Reduction::State::notify() {
  ++change_count_;
  changed_.notify_all();
}

/// Until something has changed. Gradients and packs come soon after one another, and a core that
/// sleeps takes long to wake.
void Reduction::State::rest(Lock& lock) {
  const std::uint64_t seen = change_count_;
  const auto has_changed = [&] { return change_count_ != seen; };
  lock.unlock();
  yield_while_idle(kIdleTime, has_changed);
  lock.lock();
  changed_.wait(lock, has_changed);
}

void Reduction::State::fail(std::exception_ptr error) {
  if (!error_) error_ = std::move(error);
  to_apply_.clear();
}

/// Whether the pack may be under way together with the one before it.
bool Reduction::State::overtakes(std::size_t pack) const {
  return starter_ != nullptr && pack > 0 && pack < priorities_.size() &&
         priorities_[pack] > priorities_[pack - 1] && starter_->can_start(pack - 1) &&
         starter_->can_start(pack);
}

bool Reduction::State::may_begin_next() const {
  if (error_ || failed_ || !next_is_full()) return false;
  if (flights_.empty()) return true;
  return flights_.size() == 1 && flights_.front().pack + 1 == begun_count_ &&
         overtakes(begun_count_);
}

/// On this thread, alone.
void Reduction::State::run_pack(Lock& lock, TraceTrack* track) {
  const Stopwatch stopwatch(times_.reducing);
  const std::size_t pack = begun_count_++;
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
  is_running_ = false;
  finish(pack, std::move(sum), std::move(error));
}

/// For packs that may be under way together with another.
void Reduction::State::launch(Lock& lock) {
  const std::size_t pack = begun_count_++;
  ++busy_count_;
  const auto begin = TraceClock::now();
  const bool is_alone = flights_.empty();
  if (is_alone) first_launch_ = begin;
  lock.unlock();
  std::optional<Handle> handle;
  std::exception_ptr error;
  try {
    handle = starter_->start(pack, inputs_, outputs_, options_);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error) {  // it has not begun
    --busy_count_;
    --begun_count_;
    cancelled_ = "a pack could not be begun there";
    fail(std::move(error));
    notify();
    return;
  }
  flights_.push_back(
      {pack, *handle, is_alone ? options_.plan_track : options_.overtaking_track, begin});
  lock.unlock();
  state_of(*handle).call_when_done([this, pack] {
    const std::lock_guard done(mutex_);
    std::ranges::find(flights_, pack, &Flight::pack)->is_done = true;
    notify();
  });
  lock.lock();
}

bool Reduction::State::has_landed() const {
  return std::ranges::any_of(flights_, &Flight::is_done);
}

/// Ends one that is done.
void Reduction::State::land(Lock& lock) {
  const auto found = std::ranges::find_if(flights_, &Flight::is_done);
  const Flight flight = *found;
  flights_.erase(found);
  lock.unlock();
  std::exception_ptr error;
  try {
    flight.handle.wait();
    starter_->complete(flight.pack, outputs_);
  } catch (...) {
    error = std::current_exception();
  }
  const auto end = TraceClock::now();
  if (flight.track != nullptr)
    flight.track->add(
        "pack", fmt::format("pack {}", flight.pack), flight.begin, end,
        {{"bytes", static_cast<std::int64_t>(plan_.packs[flight.pack].pack.byte_count())},
         {"step", options_.step.value_or(0)}});
  lock.lock();
  if (flights_.empty()) times_.reducing += end - first_launch_;
  finish(flight.pack, std::nullopt, std::move(error));
}

void Reduction::State::finish(std::size_t pack, std::optional<IndexedSlices> sum,
                              std::exception_ptr error) {
  --busy_count_;
  if (!error) {
    mark_done(pack, std::move(sum));
  } else if (!failed_ || pack < *failed_) {
    failed_ = pack;
    pack_error_ = std::move(error);
  }
  // The error of the first tells more than that of one that could not go on without it.
  if (pack_error_ && flights_.empty()) fail(std::exchange(pack_error_, nullptr));
  notify();
}

void Reduction::State::mark_done(std::size_t pack, std::optional<IndexedSlices> sum) {
  finished_.push_back(pack);
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
  notify();
}

void Reduction::State::start(Progress& thread) {
  if (has_thread_) thread_ = thread.submit({}, [this] { run(); });
}

void Reduction::State::run() {
  Lock lock(mutex_);
  for (;;) {
    if (has_landed())
      land(lock);
    else if (error_ && flights_.empty() && !has_told_)
      tell_others(lock);
    else if (is_over() && flights_.empty() && to_apply_.empty())
      return;
    else if (may_begin_next() && (!flights_.empty() || overtakes(begun_count_ + 1)))
      launch(lock);
    else if (may_begin_next())
      run_pack(lock, options_.plan_track);
    else if (!to_apply_.empty())
      apply_next(lock, options_.plan_track);
    else
      rest(lock);
  }
}

/// They may be in the next pack already, and in the one that overtakes it: all ranks count as many
/// packs as the one that is furthest may have begun.
void Reduction::State::tell_others(Lock& lock) {
  has_told_ = true;
  if (!failed_ && !cancelled_) return;
  const std::string sentence = cancelled_.value_or("the pack before it failed");
  const std::size_t failed = failed_.value_or(begun_count_);
  std::size_t end = std::min(failed + 1, plan_.packs.size());
  if (overtakes(end)) ++end;
  const std::size_t begin = std::exchange(begun_count_, std::max(begun_count_, end));
  lock.unlock();
  try {
    for (std::size_t pack = begin; pack < end; ++pack) runner_.refuse(sentence);
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
    if (!has_thread_ && !is_running_ && !is_over() && next_is_full()) {
      run_pack(lock, options_.caller_track);
      continue;
    }
    const TraceSpan span(options_.caller_track, "wait", "wait",
                         {{"pack", static_cast<std::int64_t>(finished_.size())}});
    if (is_running_ || busy_count_ > 0 || is_over() || next_is_full()) {
      rest(lock);  // for work that has a deadline of its own
    } else if (changed_.wait_until(lock, deadline) == std::cv_status::timeout && !next_is_full()) {
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

const PlannedPack& Reduction::State::wait_for_finished(std::size_t number) {
  Lock lock(mutex_);
  help_until(lock, [&] { return finished_.size() > number; });
  return plan_.packs[finished_[number]];
}

void Reduction::State::finish() {
  Lock lock(mutex_);
  if (!error_ && !cancelled_) {
    const std::string missing = describe_missing();
    require(missing.empty(), ErrorKind::kBadOption, "{}; push every gradient before finish()",
            missing);
  }
  help_until(lock, [&] {
    return !error_ && finished_.size() == plan_.packs.size() && to_apply_.empty() &&
           busy_count_ == 0;
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
  notify();
}

void Reduction::State::close() {
  Lock lock(mutex_);
  if (const std::string missing = describe_missing(); !missing.empty()) {
    lock.unlock();
    cancel(missing);
    lock.lock();
  }
  while (!has_thread_ && !is_over() && !cancelled_) run_pack(lock, nullptr);
  if (!has_thread_ && error_) tell_others(lock);
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
  return reduction_->state_->wait_for_finished(number_);
}

Reduction::Iterator Reduction::end() { return {*this, state_->plan().packs.size()}; }

}  // namespace fanin
