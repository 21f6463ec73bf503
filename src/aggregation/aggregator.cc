#include "fanin/aggregator.h"

#include <condition_variable>
#include <mutex>
#include <vector>

#include "aggregation/accumulate_sum.h"
#include "aggregation/dense_sum.h"
#include "aggregation/term_check.h"
#include "aggregation/tree_sum.h"
#include "core/require.h"
#include "fanin/aggregate.h"

namespace fanin {
namespace {

using Clock = std::chrono::steady_clock;
using Method = AggregationMethod;

}  // namespace

/// Bookkeeping is under one lock; sums are made outside of it.
class Aggregator::State {
 public:
  State(int term_count, Method method, const SumOptions& options)
      : term_count_(static_cast<std::size_t>(term_count)), asked_(method), options_(options) {}

  void push(std::optional<int> index, std::optional<Value> term);
  std::optional<Value> finish();
  AggregationPlan explain() const;
  AggregationRecord record() const;

 private:
  void check_index(std::optional<int> index) const;
  void start(const Value& first);
  void add(std::size_t position, Value term, const Shape* dense_shape);
  std::optional<Value> sum();
  Value sum_of_parts();
  SumSetting setting(std::size_t divisor);

  const std::size_t term_count_;
  const Method asked_;
  const SumOptions options_;
  HeldMemory memory_;

  mutable std::mutex mutex_;
  std::condition_variable pushes_ended_;
  std::size_t pushed_ = 0;
  std::size_t present_ = 0;
  std::size_t pushed_bytes_ = 0;
  std::size_t under_way_ = 0;  // pushes
  std::optional<bool> is_indexed_;
  std::vector<bool> seen_;  // by index
  bool is_finished_ = false;
  std::string failure_;  // why no sum can be given any more
  TermCheck fit_;
  std::optional<Device> device_;  // of the first dense term
  bool has_sparse_ = false;
  std::optional<AggregationPlan> plan_;
  std::chrono::nanoseconds busy_time_{0};

  // By method.
  std::vector<std::optional<Value>> terms_;     // ADD_N
  std::unique_ptr<TreeSum> tree_;               // TREE, and sparse terms of ACCUMULATE_N
  std::unique_ptr<AccumulateSum> accumulated_;  // ACCUMULATE_N, from the first dense term on
};

void Aggregator::State::check_index(std::optional<int> index) const {
  require(!is_finished_, ErrorKind::kBadOption,
          "this aggregator is finished; a further term needs a new one");
  require(pushed_ < term_count_, ErrorKind::kBadOption,
          "all {} terms have been pushed; announce more when the aggregator is made", term_count_);
  require(!is_indexed_ || *is_indexed_ == index.has_value(), ErrorKind::kBadOption,
          "terms of one aggregator are pushed all by index or all without; the first was pushed {}",
          is_indexed_.value_or(false) ? "by index" : "without");
  if (!index) return;
  require(*index >= 0 && static_cast<std::size_t>(*index) < term_count_, ErrorKind::kBadOption,
          "index {} is out of range; {} terms have been announced, from 0 on", *index, term_count_);
  require(seen_.empty() || !seen_[static_cast<std::size_t>(*index)], ErrorKind::kBadOption,
          "term {} has been pushed before; each index comes once", *index);
}

SumSetting Aggregator::State::setting(std::size_t divisor) {
  return {context_of(options_), arithmetic_of(options_, fit_.dtype(), divisor), memory_};
}

/// The first term that is there tells the type and size, by which AUTO chooses.
void Aggregator::State::start(const Value& first) {
  const auto* const dense = std::get_if<Tensor>(&first);
  const Tensor& like = dense != nullptr ? *dense : std::get<IndexedSlices>(first).values;
  plan_ = plan_aggregation({.term_count = term_count_,
                            .element_count = like.element_count(),
                            .dtype = like.dtype(),
                            .method = asked_,
                            .terms_arrive = true,
                            .is_sparse = dense == nullptr},
                           options_);
  if (plan_->method == Method::kAddN)
    terms_.resize(term_count_);
  else
    tree_ = std::make_unique<TreeSum>(setting(term_count_));
}

void Aggregator::State::push(std::optional<int> index, std::optional<Value> term) {
  const auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  check_index(index);
  const std::size_t position = index ? static_cast<std::size_t>(*index) : pushed_;
  if (term) {
    fit_.accept({&*term, position});
    if (!plan_) start(*term);
    const auto* const dense = std::get_if<Tensor>(&*term);
    if (dense != nullptr && !device_) device_ = dense->device();
    if (dense != nullptr && !accumulated_ && plan_->method == Method::kExperimentalAccumulateN)
      accumulated_ = std::make_unique<AccumulateSum>(setting(term_count_), term_count_,
                                                     dense->element_count());
    has_sparse_ |= dense == nullptr;
    ++present_;
    pushed_bytes_ += bytes_of_value(*term);
  }
  is_indexed_ = index.has_value();
  if (index) {
    seen_.resize(term_count_);
    seen_[position] = true;
  }
  ++pushed_;
  if (!term) return;

  ++under_way_;
  const Shape* const dense_shape = fit_.dense_shape();
  lock.unlock();
  std::string failure;
  try {
    add(position, std::move(*term), dense_shape);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  lock.lock();
  --under_way_;
  busy_time_ += Clock::now() - begin;
  if (!failure.empty()) failure_ = failure;
  pushes_ended_.notify_all();
  if (!failure.empty())
    throw Unavailable(fmt::format("term {} could not be added: {}", position, failure));
}

void Aggregator::State::add(std::size_t position, Value term, const Shape* dense_shape) {
  if (plan_->method == Method::kAddN) {
    memory_.add(bytes_of_value(term));
    terms_[position] = std::move(term);
  } else if (std::holds_alternative<Tensor>(term) &&
             plan_->method == Method::kExperimentalAccumulateN) {
    accumulated_->push(std::get<Tensor>(std::move(term)));
  } else {
    tree_->push(to_partial_sum(std::move(term)), dense_shape);
  }
}

Value Aggregator::State::sum_of_parts() {
  std::vector<ChainLink> chain;
  if (accumulated_) chain.push_back({accumulated_->take()});
  for (ChainLink& link : tree_->take_rest()) chain.push_back(std::move(link));
  return finished_chain(setting(present_), std::move(chain), fit_.dense_shape(),
                        fit_.sparse_shape(), device_.value_or(Device()));
}

std::optional<Value> Aggregator::State::sum() {
  if (!plan_) return std::nullopt;
  if (plan_->method != Method::kAddN) return sum_of_parts();
  auto result = add_n(terms_, options_);
  const std::size_t bytes = bytes_of_value(*result);
  memory_.add(bytes);
  memory_.count_moved(pushed_bytes_ + bytes);
  memory_.remove(pushed_bytes_);
  terms_.clear();
  return result;
}

std::optional<Value> Aggregator::State::finish() {
  std::unique_lock lock(mutex_);
  require(!is_finished_, ErrorKind::kBadOption, "this aggregator has been finished before");
  require(pushed_ == term_count_, ErrorKind::kBadOption,
          "{} of {} terms have been pushed; push the others before finish()", pushed_, term_count_);
  pushes_ended_.wait(lock, [&] { return under_way_ == 0; });
  if (!failure_.empty())
    throw Unavailable(fmt::format("a term could not be added, so there is no sum: {}", failure_));
  require(!is_finished_, ErrorKind::kBadOption, "this aggregator has been finished before");
  is_finished_ = true;
  const auto begin = Clock::now();
  auto result = sum();
  busy_time_ += Clock::now() - begin;
  return result;
}

AggregationPlan Aggregator::State::explain() const {
  const std::scoped_lock lock(mutex_);
  require(plan_.has_value(), ErrorKind::kBadOption,
          "there is nothing to explain before the first term: its size decides");
  // The method was chosen by the first term; others may have been sparse, or dense and larger.
  AggregationRequest request = plan_->request;
  request.method = plan_->method;
  request.is_sparse = has_sparse_;
  if (const Shape* const shape = fit_.dense_shape()) request.element_count = shape->element_count();
  AggregationPlan plan = plan_aggregation(request, options_);
  plan.request.method = asked_;
  plan.reason = plan_->reason;
  return plan;
}

AggregationRecord Aggregator::State::record() const {
  const std::scoped_lock lock(mutex_);
  AggregationRecord record{.method = plan_ ? plan_->method : asked_,
                           .pushed_count = pushed_,
                           .pushed_bytes = pushed_bytes_,
                           .moved_bytes = memory_.moved(),
                           .held_bytes = memory_.now(),
                           .peak_bytes = memory_.peak(),
                           .partial_count = tree_ ? tree_->partial_count() : 0,
                           .peak_partial_count = tree_ ? tree_->peak_partial_count() : 0,
                           .busy_time = busy_time_};
  return record;
}

Aggregator::Aggregator(int term_count, AggregationMethod method, const SumOptions& options) {
  check(method);
  check(options.accumulation);
  require(term_count >= 0, ErrorKind::kBadOption,
          "an aggregator of {} terms cannot be; announce 0 or more", term_count);
  require(options.accumulation != Accumulation::kExact || method == Method::kAddN ||
              method == Method::kAuto,
          ErrorKind::kBadOption,
          "{} has no exact sum: it lets go of terms before all are there; use ADD_N or AUTO",
          name(method));
  state_ = std::make_unique<State>(term_count, method, options);
}

Aggregator::~Aggregator() = default;

void Aggregator::push(std::optional<Value> term) { state_->push(std::nullopt, std::move(term)); }
void Aggregator::push(int index, std::optional<Value> term) {
  state_->push(index, std::move(term));
}
std::optional<Value> Aggregator::finish() { return state_->finish(); }
AggregationPlan Aggregator::explain() const { return state_->explain(); }
AggregationRecord Aggregator::record() const { return state_->record(); }

}  // namespace fanin
