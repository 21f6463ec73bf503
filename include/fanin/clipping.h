#pragma once

#include <span>

#include "fanin/context.h"
#include "fanin/tensor.h"

namespace fanin {

/// The square root of the sum of the squares of all float32 elements of all gradients. Summed in
/// float64, where it cannot overflow, in an order that depends on the sizes only: the same bits for
/// any number of threads. Throws InvalidArgument (kDtypeMismatch).
double global_norm(std::span<const Tensor> gradients, Context& context = Context::process());

/// Multiplies all gradients by max_norm / (norm + 1e-6), rounded to float32, where that is below 1,
/// as torch.nn.utils.clip_grad_norm_ does. Returns the norm that they had. A norm of infinity makes
/// all finite elements 0 and the others NaN, a norm that is NaN makes all NaN: look at what is
/// returned before the gradients are used. Throws InvalidArgument, and has changed nothing then:
/// kDtypeMismatch; kShapeMismatch if the memory of one has not the size of its shape; kBadOption
/// unless max_norm is above 0.
double clip_by_global_norm(std::span<const TensorView> gradients, double max_norm,
                           Context& context = Context::process());

}  // namespace fanin
