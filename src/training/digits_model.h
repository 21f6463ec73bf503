#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "fanin/aggregation_method.h"
#include "fanin/context.h"
#include "fanin/indexed_slices.h"
#include "training/digits.h"
#include "training/digits_parameters.h"

namespace fanin::training {

/// How well a network did on some images.
struct Score {
  double loss = 0;  ///< cross entropy, the mean over the images
  std::size_t correct_count = 0;
  std::size_t image_count = 0;
};

/// A network that tells handwritten digits, on one replica: an image goes patch by patch through
/// patch/kernel, and as a set of tokens (one for each pixel that has ink) through pixels/embedding;
/// both together through two hidden layers and the output layer to softmax cross entropy.
///
/// It holds the activations of one batch; parameters and gradients lie where the caller says. It
/// runs on the caller's thread, and the same calls give the same bits.
class DigitsModel {
 public:
  /// Borrows `digits` and the parameters, which it only reads, and which the caller may change when
  /// no call runs, or as backward() allows. Batches have up to `batch_size` images; `method` sums
  /// the terms of the gradients of the patches. Throws InvalidArgument as check_digits() and
  /// check(method), and (kBadOption) if the batch size is 0.
  DigitsModel(const Digits& digits, std::span<const TensorView> parameters, std::size_t batch_size,
              AggregationMethod method = AggregationMethod::kAuto,
              Context& context = Context::process());
  ~DigitsModel();
  DigitsModel(const DigitsModel&) = delete;
  DigitsModel& operator=(const DigitsModel&) = delete;

  /// Throws InvalidArgument (kBadOption) if there are no images or more than a batch, and
  /// (kIndexOutOfRange) if one is not of the set.
  Score forward(std::span<const std::size_t> images);

  /// Called with each gradient as soon as it is there. From then on the parameter is not read any
  /// more, so it may be changed at once.
  using Ready = std::function<void(std::size_t parameter, Value gradient)>;

  /// The gradients of the loss of the last forward(), from the last parameter to the first. Dense
  /// ones are written to `gradients`, a place for each parameter, and handed over as views of it;
  /// sparse ones have memory of their own, and their place is not looked at. Throws InvalidArgument
  /// as check_gradients(), and (kBadOption) if there was no forward(), or an evaluate() since. What
  /// `ready` throws comes through.
  void backward(std::span<const TensorView> gradients, const Ready& ready);

  /// The same as forward(), for any number of images.
  Score evaluate(std::span<const std::size_t> images);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fanin::training
