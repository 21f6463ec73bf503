#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fanin/dtype.h"
#include "fanin/shape.h"
#include "fanin/tensor.h"

namespace fanin::cli {

/// One gradient of a model.
struct GradientShape {
  std::string name;
  Shape shape;
};

/// The gradients of a known model: "resnet50" or "bert-base". Throws InvalidArgument (kBadOption)
/// and lists the names otherwise.
std::vector<GradientShape> model_gradients(std::string_view model);

/// How made-up terms are spread.
enum class Distribution : std::uint8_t {
  kNormal,   ///< around 0, as gradients of many examples are
  kUniform,  ///< from 0 to 1: nothing cancels
  kIll,      ///< large ones that cancel, and a small rest
};

/// Throws InvalidArgument (kBadOption) and lists the names: normal, uniform, ill.
Distribution parse_distribution(std::string_view text);

/// One gradient, and its terms.
struct GradientTerms {
  std::string name;
  std::vector<Tensor> terms;
};

/// Terms of this shape: the same for the same seed, whatever the number of threads.
GradientTerms make_terms(const GradientShape& gradient, int term_count, DType dtype,
                         Distribution distribution, std::uint64_t seed);

}  // namespace fanin::cli
