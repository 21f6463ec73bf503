#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "fanin/context.h"
#include "fanin/indexed_slices.h"
#include "fanin/tensor.h"

namespace fanin {

/// Stochastic gradient descent, as torch.optim.SGD. With g = gradient + weight_decay * parameter:
///     momenta   = g in the first step, then momentum * momenta + (1 - dampening) * g
///     parameter -= learning_rate * momenta; without momentum g, and if Nesterov
///                  g + momentum * momenta, instead of momenta
struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0;  ///< 0: none, and no memory for it
  double dampening = 0;
  double weight_decay = 0;
  bool is_nesterov = false;  ///< needs momentum, and no dampening

  friend bool operator==(const SgdOptions&, const SgdOptions&) = default;
};

/// Adam, as torch.optim.Adam. With g = gradient + weight_decay * parameter, in step t:
///     average        = beta1 * average + (1 - beta1) * g
///     square_average = beta2 * square_average + (1 - beta2) * g * g
///     parameter -= learning_rate / (1 - beta1^t) * average /
///                  (sqrt(square_average) / sqrt(1 - beta2^t) + epsilon)
struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;

  friend bool operator==(const AdamOptions&, const AdamOptions&) = default;
};

using OptimizerOptions = std::variant<SgdOptions, AdamOptions>;

/// Throws InvalidArgument (kBadOption) if a number is not finite, negative, beyond float32, or
/// (beta1, beta2) not below 1; or if Nesterov has no momentum, or dampening.
void check(const OptimizerOptions& options);

/// Changes float32 parameters by their gradients, in one pass over memory, and holds what has to be
/// remembered from step to step. Each parameter has steps of its own, and different ones may be
/// updated in any order and from any threads at once.
///
/// The bits depend on parameters, gradients and options only: not on threads, nor on the vectors of
/// the machine, nor on the pieces in which gradients come. They are those of PyTorch's SGD where
/// that does not fuse multiplications with additions; otherwise, and for Adam, results of five
/// steps differ by at most 1.5 * 2^-23 of the largest value that the parameter has had (measured
/// with PyTorch 2.13: tests/golden/optimizers.json).
///
///     fanin::Optimizer optimizer({fanin::TensorView::over<float>(weights, {10, 3})},
///                                fanin::AdamOptions{.learning_rate = 0.01});
///     optimizer.apply(0, gradient);  // each step
class Optimizer {
 public:
  /// Borrows the parameters' memory, which must stay where it is. What is remembered takes one
  /// float32 an element for momentum, two for Adam, of the context's memory. Throws InvalidArgument
  /// as check(), and if a parameter is not float32 (kDtypeMismatch), if its memory has not the size
  /// of its shape (kShapeMismatch), or if two have memory in common (kBadOption).
  Optimizer(std::vector<TensorView> parameters, const OptimizerOptions& options,
            Context& context = Context::process());
  ~Optimizer();
  Optimizer(Optimizer&&) noexcept;
  Optimizer& operator=(Optimizer&&) noexcept;

  std::size_t parameter_count() const;

  /// A step of parameter `index`. Up to 1 Mi elements on the caller's thread alone, above that by
  /// the context's. Throws InvalidArgument, and has changed nothing then: kShapeMismatch,
  /// kDtypeMismatch; kBadOption if there is no such parameter, or if a step of it is under way.
  void apply(std::size_t index, const Tensor& gradient);

  /// The same for a dense or a sparse gradient. A sparse one counts as zeros to which its rows are
  /// added in order of appearance, bit for bit; so rows that it does not name change too, by weight
  /// decay and by what is remembered of earlier steps. Takes no memory for the dense form. Throws
  /// also kSparseMismatch and kIndexOutOfRange.
  void apply(std::size_t index, const Value& gradient);

  /// The same for a piece of the parameter, as packs have them: the elements from `begin` on, as
  /// many as the gradient has, whose shape may be any. A step ends when all elements have had their
  /// piece; pieces come in any order and from any threads. Throws also kShapeMismatch if the piece
  /// is not within the parameter, and kBadOption if one of its elements already has had its piece
  /// of this step.
  void apply_piece(std::size_t index, std::size_t begin, const Tensor& gradient);

  /// Steps of this parameter that have ended. Throws InvalidArgument (kBadOption) if there is none.
  std::int64_t step_count(std::size_t index) const;

  /// For the applications that begin from now on. Throws as check().
  void set_learning_rate(double learning_rate);
  double learning_rate() const;

  /// Bytes of what is remembered of all parameters.
  std::size_t state_bytes() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fanin
