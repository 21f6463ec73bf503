#pragma once

#include <cstddef>

namespace fanin {

// Steps of optimizers over float32 memory: each array is read and written once. On this thread, any
// alignment. Elements do not know of each other, and nothing is fused into one rounding: the same
// bits for any split into ranges, and with any vectors.

/// The numbers of one step of SGD.
struct SgdStep {
  float learning_rate = 0;
  float momentum = 0;
  float gradient_share = 1;  // of what is added to the momenta: 1 - dampening
  float weight_decay = 0;
  bool is_nesterov = false;
  bool is_first = false;  // the momenta become the gradients
};

/// The numbers of one step of Adam.
struct AdamStep {
  float step_size = 0;        // learning rate / (1 - beta1^step)
  float gradient_share = 0;   // 1 - beta1
  float square_decay = 0;     // beta2
  float square_share = 0;     // 1 - beta2
  float root_correction = 1;  // sqrt(1 - beta2^step)
  float epsilon = 0;
  float weight_decay = 0;
};

/// Changes parameters and momenta. `momenta` is null where there are none.
void step_sgd(const SgdStep& step, std::byte* parameters, const std::byte* gradients,
              std::byte* momenta, std::size_t count);

/// Changes parameters, the running averages of gradients, and those of their squares.
void step_adam(const AdamStep& step, std::byte* parameters, const std::byte* gradients,
               std::byte* averages, std::byte* square_averages, std::size_t count);

/// In float64, where squares of float32 are exact; element i goes to partial sum i modulo 16.
double sum_of_squares(const std::byte* numbers, std::size_t count);

}  // namespace fanin
