#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fanin/shape.h"
#include "fanin/tensor.h"
#include "training/digits.h"

namespace fanin::training {

// The first layers of the network, whose sizes are fixed. All patches of an image have the same
// weights, so these are used once for each position.
inline constexpr std::size_t kPatchSide = 4;
inline constexpr std::size_t kPatchPixelCount = kPatchSide * kPatchSide;
inline constexpr std::size_t kPatchStride = 2;
inline constexpr std::size_t kPositionsPerSide = (kImageSide - kPatchSide) / kPatchStride + 1;
inline constexpr std::size_t kPositionCount = kPositionsPerSide * kPositionsPerSide;
inline constexpr std::size_t kPatchFeatureCount = 32;
inline constexpr std::size_t kTokenCount = kPixelCount * kInkCount;
inline constexpr std::size_t kEmbeddingSize = 32;
inline constexpr std::size_t kFeatureCount = kPositionCount * kPatchFeatureCount + kEmbeddingSize;

/// The parameters, by their place in every list of them: in the order of the forward pass.
enum DigitsParameter : std::size_t {
  kPatchKernel,
  kPatchBias,
  kPixelEmbedding,
  kHidden1Kernel,
  kHidden1Bias,
  kHidden2Kernel,
  kHidden2Bias,
  kOutputKernel,
  kOutputBias,
  kDigitsParameterCount,
};

struct ParameterInfo {
  std::string name;
  Shape shape;             // of float32
  bool is_sparse = false;  ///< its gradient is IndexedSlices
};

/// What the network with `width` units in each hidden layer learns. Throws InvalidArgument
/// (kBadOption) unless the width is positive.
std::vector<ParameterInfo> digits_parameters(std::int64_t width);

/// Fills parameters with random numbers, the same for the same seed on every machine: kernels
/// evenly within +-sqrt(6 / inputs) (He), that of the last layer within +-sqrt(6 / (inputs +
/// outputs)) (Glorot), the embedding within +-1/2; biases are 0. Throws InvalidArgument as
/// check_digits().
void initialize_digits(std::span<const TensorView> parameters, std::uint64_t seed);

/// Throws InvalidArgument unless there is a view for each parameter (kBadOption), of the network of
/// one width (kShapeMismatch), with float32 elements (kDtypeMismatch) on borders of float32
/// (kBadOption). Gives the infos that they fit to.
std::vector<ParameterInfo> check_digits(std::span<const TensorView> parameters);

/// The same for places of gradients, as the second argument tells; those of sparse ones are not
/// looked at.
void check_gradients(std::span<const TensorView> gradients,
                     std::span<const ParameterInfo> parameters);

/// The elements of a view that has been checked, or of a buffer.
std::span<float> floats(std::span<std::byte> bytes);

}  // namespace fanin::training
