#include "fanin/optimizer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <utility>

#include "core/require.h"
#include "optimizers/optimizer_options.h"
#include "optimizers/run_by_size.h"
#include "optimizers/sparse_gradient.h"
#include "optimizers/step_progress.h"

namespace fanin {
namespace {

/// Of a sparse gradient that is made dense at once, on the stack.
constexpr std::size_t kDenseBlockElements = 4096;

constexpr std::size_t kStateAlignment = 64;

std::size_t state_array_size(const TensorView& parameter) {
  return (parameter.bytes.size() + kStateAlignment - 1) / kStateAlignment * kStateAlignment;
}

/// The memory of a parameter, and what is remembered of it: arrays that lie one after the other.
struct Parameter {
  Parameter(TensorView parameter, std::byte* state_begin)
      : view(std::move(parameter)), state(state_begin), progress(view.shape.element_count()) {}

  std::byte* at(std::size_t element) const { return view.bytes.data() + element * sizeof(float); }

  std::byte* state_at(std::size_t array, std::size_t element) const {
    if (state == nullptr) return nullptr;
    return state + array * state_array_size(view) + element * sizeof(float);
  }

  TensorView view;
  std::byte* state;  // null: nothing is remembered
  StepProgress progress;
};

/// Changes `count` elements from `begin` on by these gradients.
void run(const SgdStep& step, const Parameter& parameter, std::size_t begin,
         const std::byte* gradients, std::size_t count) {
  step_sgd(step, parameter.at(begin), gradients, parameter.state_at(0, begin), count);
}

void run(const AdamStep& step, const Parameter& parameter, std::size_t begin,
         const std::byte* gradients, std::size_t count) {
  step_adam(step, parameter.at(begin), gradients, parameter.state_at(0, begin),
            parameter.state_at(1, begin), count);
}

void check_parameters(const std::vector<TensorView>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const TensorView& view = parameters[i];
    require(view.dtype == DType::kFloat32, ErrorKind::kDtypeMismatch,
            "parameter {} is {}; optimizers change float32", i, name(view.dtype));
    const std::size_t bytes = view.shape.element_count() * sizeof(float);
    require(view.bytes.size() == bytes, ErrorKind::kShapeMismatch,
            "parameter {} has {} bytes, but its shape {} needs {}", i, view.bytes.size(),
            to_string(view.shape), bytes);
  }
  std::vector<std::size_t> by_address;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i].bytes.empty()) by_address.push_back(i);
  std::ranges::sort(by_address, std::less<>(),
                    [&](std::size_t i) { return parameters[i].bytes.data(); });
  for (std::size_t i = 1; i < by_address.size(); ++i) {
    const auto lower = parameters[by_address[i - 1]].bytes;
    const auto upper = parameters[by_address[i]].bytes;
    require(!std::less<>()(upper.data(), lower.data() + lower.size()), ErrorKind::kBadOption,
            "parameters {} and {} have memory in common; each element belongs to one parameter",
            std::min(by_address[i - 1], by_address[i]), std::max(by_address[i - 1], by_address[i]));
  }
}

}  // namespace

class Optimizer::State {
 public:
  State(std::vector<TensorView> parameters, const OptimizerOptions& options, Context& context)
      : options_(options), learning_rate_(learning_rate_of(options)), context_(context) {
    check(options);
    check_parameters(parameters);
    const std::size_t arrays = state_array_count(options);
    std::size_t size = 0;
    for (const TensorView& view : parameters) size += arrays * state_array_size(view);
    if (size > 0) {
      memory_ = context.buffers().allocate(size);
      std::memset(memory_.bytes().data(), 0, size);
    }
    std::byte* begin = memory_.bytes().data();
    for (TensorView& view : parameters) {
      const std::size_t here = arrays * state_array_size(view);
      parameters_.emplace_back(std::move(view), begin);
      if (begin != nullptr) begin += here;
      state_bytes_ += arrays * parameters_.back().view.bytes.size();
    }
  }

  std::size_t parameter_count() const { return parameters_.size(); }

  const Parameter& parameter(std::size_t index) const {
    require(index < parameters_.size(), ErrorKind::kBadOption,
            "parameter {} was asked for, but there are {}, counted from 0", index,
            parameters_.size());
    return parameters_[index];
  }

  void apply(std::size_t index, const Tensor& gradient) {
    const Shape& shape = parameter(index).view.shape;
    if (gradient.shape() != shape)
      throw InvalidArgument(
          ErrorKind::kShapeMismatch,
          fmt::format("the gradient of parameter {} has shape {}, but the parameter {}", index,
                      to_string(gradient.shape()), to_string(shape)));
    apply_piece(index, 0, gradient);
  }

  void apply(std::size_t index, const IndexedSlices& slices) {
    const Shape& shape = parameter(index).view.shape;
    const SparseGradient sparse(index, shape, slices, context_);
    update(index, 0, shape.element_count(), [&](std::size_t begin, std::size_t count, auto run_at) {
      std::array<float, kDenseBlockElements> block;
      for (std::size_t done = 0; done < count; done += kDenseBlockElements) {
        const auto here = std::span(block).first(std::min(kDenseBlockElements, count - done));
        sparse.write_dense(begin + done, here);
        run_at(begin + done, std::as_bytes(here).data(), here.size());
      }
    });
  }

  void apply_piece(std::size_t index, std::size_t first, const Tensor& gradient) {
    const std::size_t element_count = parameter(index).view.shape.element_count();
    const std::size_t piece_count = gradient.element_count();
    require(gradient.dtype() == DType::kFloat32, ErrorKind::kDtypeMismatch,
            "the gradient of parameter {} is {}; optimizers take float32", index,
            name(gradient.dtype()));
    require(first <= element_count && piece_count <= element_count - first,
            ErrorKind::kShapeMismatch,
            "a piece of {} elements from element {} on is not within parameter {}, which has {}",
            piece_count, first, index, element_count);
    const std::byte* const gradients = gradient.bytes().data();
    update(index, first, piece_count, [&](std::size_t begin, std::size_t count, auto run_at) {
      run_at(begin, gradients + (begin - first) * sizeof(float), count);
    });
  }

  void set_learning_rate(double learning_rate) {
    check_learning_rate(learning_rate);
    learning_rate_.store(learning_rate, std::memory_order_relaxed);
  }

  double learning_rate() const { return learning_rate_.load(std::memory_order_relaxed); }

  std::size_t state_bytes() const { return state_bytes_; }

 private:
  /// Takes elements of a parameter and calls part(begin, count, run_at), which calls
  /// run_at(begin, gradients, count), for all of them, by several threads if they are many.
  template <typename Part>
  void update(std::size_t index, std::size_t first, std::size_t element_count, const Part& part) {
    Parameter& parameter = parameters_[index];
    const std::int64_t step = parameter.progress.take(index, first, element_count);
    std::visit(
        [&](const auto& options) {
          const auto numbers = make_step(options, learning_rate(), step);
          run_by_size(context_, element_count, [&](std::size_t begin, std::size_t count) {
            part(first + begin, count,
                 [&](std::size_t at, const std::byte* gradients, std::size_t here) {
                   run(numbers, parameter, at, gradients, here);
                 });
          });
        },
        options_);
    parameter.progress.finish(element_count);
  }

  const OptimizerOptions options_;
  std::atomic<double> learning_rate_;
  Context& context_;
  Buffer memory_;  // of all that is remembered: huge pages are not begun for each parameter
  std::size_t state_bytes_ = 0;
  std::deque<Parameter> parameters_;  // which cannot move
};

Optimizer::Optimizer(std::vector<TensorView> parameters, const OptimizerOptions& options,
                     Context& context)
    : state_(std::make_unique<State>(std::move(parameters), options, context)) {}

Optimizer::~Optimizer() = default;
Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;

std::size_t Optimizer::parameter_count() const { return state_->parameter_count(); }

void Optimizer::apply(std::size_t index, const Tensor& gradient) { state_->apply(index, gradient); }

void Optimizer::apply(std::size_t index, const Value& gradient) {
  std::visit([&](const auto& each) { state_->apply(index, each); }, gradient);
}

void Optimizer::apply_piece(std::size_t index, std::size_t begin, const Tensor& gradient) {
  state_->apply_piece(index, begin, gradient);
}

std::int64_t Optimizer::step_count(std::size_t index) const {
  return state_->parameter(index).progress.step_count();
}

void Optimizer::set_learning_rate(double learning_rate) {
  state_->set_learning_rate(learning_rate);
}

double Optimizer::learning_rate() const { return state_->learning_rate(); }

std::size_t Optimizer::state_bytes() const { return state_->state_bytes(); }

}  // namespace fanin
