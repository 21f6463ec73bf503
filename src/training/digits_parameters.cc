#include "training/digits_parameters.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/require.h"
#include "training/random.h"

namespace fanin::training {
namespace {

void check_count(std::size_t count, std::string_view what) {
  require(count == kDigitsParameterCount, ErrorKind::kBadOption,
          "There are {} {}, but the network has {} parameters: give one view for each", count, what,
          +kDigitsParameterCount);
}

void check_view(const TensorView& view, const ParameterInfo& info, std::string_view what) {
  require(view.shape == info.shape, ErrorKind::kShapeMismatch, "The {} {} has shape {}, not {}",
          what, info.name, to_string(view.shape), to_string(info.shape));
  require(view.dtype == DType::kFloat32, ErrorKind::kDtypeMismatch,
          "The {} {} is of {}: the network is of float32", what, info.name, name(view.dtype));
  require(view.bytes.size() == view.shape.element_count() * sizeof(float),
          ErrorKind::kShapeMismatch, "The {} {} has {} bytes, but {} of float32 are {}", what,
          info.name, view.bytes.size(), to_string(view.shape),
          view.shape.element_count() * sizeof(float));
  const auto address = reinterpret_cast<std::uintptr_t>(view.bytes.data());
  require(address % alignof(float) == 0, ErrorKind::kBadOption,
          "The {} {} begins {} bytes past a multiple of {}: float32 numbers lie on multiples of it",
          what, info.name, address % alignof(float), alignof(float));
}

/// All numbers are within +- this.
float bound_of(std::size_t parameter, const Shape& shape) {
  if (shape.rank() == 1) return 0;  // a bias
  if (parameter == kPixelEmbedding) return 0.5F;
  const auto inputs = static_cast<double>(shape[0]);
  const auto outputs = static_cast<double>(shape[1]);
  return static_cast<float>(
      std::sqrt(6.0 / (parameter == kOutputKernel ? inputs + outputs : inputs)));
}

}  // namespace

std::vector<ParameterInfo> digits_parameters(std::int64_t width) {
  require(width > 0, ErrorKind::kBadOption,
          "A hidden layer cannot be {} wide: it has at least one unit", width);
  constexpr auto number = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  const auto patch_features = number(kPatchFeatureCount);
  const auto classes = number(kClassCount);
  return {
      {"patch/kernel", {number(kPatchPixelCount), patch_features}},
      {"patch/bias", {patch_features}},
      {"pixels/embedding", {number(kTokenCount), number(kEmbeddingSize)}, true},
      {"hidden1/kernel", {number(kFeatureCount), width}},
      {"hidden1/bias", {width}},
      {"hidden2/kernel", {width, width}},
      {"hidden2/bias", {width}},
      {"output/kernel", {width, classes}},
      {"output/bias", {classes}},
  };
}

void initialize_digits(std::span<const TensorView> parameters, std::uint64_t seed) {
  check_digits(parameters);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    Random random(seed, p);
    const float bound = bound_of(p, parameters[p].shape);
    std::ranges::generate(floats(parameters[p].bytes),
                          [&] { return bound * random.between_minus_one_and_one(); });
  }
}

std::vector<ParameterInfo> check_digits(std::span<const TensorView> parameters) {
  check_count(parameters.size(), "parameters");
  const Shape& of_width = parameters[kHidden1Bias].shape;
  require(of_width.rank() == 1, ErrorKind::kShapeMismatch,
          "The parameter hidden1/bias has shape {}, not one number for each unit",
          to_string(of_width));
  auto infos = digits_parameters(of_width[0]);
  for (std::size_t p = 0; p < infos.size(); ++p) check_view(parameters[p], infos[p], "parameter");
  return infos;
}

void check_gradients(std::span<const TensorView> gradients,
                     std::span<const ParameterInfo> parameters) {
  check_count(gradients.size(), "places of gradients");
  for (std::size_t p = 0; p < gradients.size(); ++p)
    if (!parameters[p].is_sparse) check_view(gradients[p], parameters[p], "gradient of");
}

std::span<float> floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace fanin::training
