#pragma once

// For tests: the network once more, in float64 and as plainly as it can be said.

#include <algorithm>
#include <cmath>
#include <vector>

#include "training/digits_parameters.h"

namespace fanin::training {

using Numbers = std::vector<double>;

/// bias + x · kernel.
inline Numbers slow_layer(const Numbers& x, const Numbers& kernel, const Numbers& bias) {
  Numbers y = bias;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t o = 0; o < y.size(); ++o) y[o] += x[i] * kernel[i * y.size() + o];
  return y;
}

inline Numbers without_negative(Numbers x) {
  for (double& each : x) each = std::max(each, 0.0);
  return x;
}

inline Numbers slow_logits(const Digits& digits, std::size_t image,
                           const std::vector<Numbers>& parameters) {
  const auto pixel = [&](std::size_t y, std::size_t x) { return digits.image(image)[y * 8 + x]; };
  Numbers features;
  for (const std::size_t top : {0U, 2U, 4U})
    for (const std::size_t left : {0U, 2U, 4U}) {
      Numbers patch;
      for (std::size_t y = top; y < top + 4; ++y)
        for (std::size_t x = left; x < left + 4; ++x) patch.push_back(pixel(y, x) / 16.0);
      const Numbers found =
          without_negative(slow_layer(patch, parameters[kPatchKernel], parameters[kPatchBias]));
      features.insert(features.end(), found.begin(), found.end());
    }
  Numbers embedded(32);
  for (std::size_t p = 0; p < 64; ++p)
    for (std::size_t c = 0; c < 32; ++c)
      if (const std::size_t ink = pixel(p / 8, p % 8); ink > 0)
        embedded[c] += parameters[kPixelEmbedding][(p * 17 + ink) * 32 + c] / 8;
  features.insert(features.end(), embedded.begin(), embedded.end());
  const Numbers hidden1 =
      without_negative(slow_layer(features, parameters[kHidden1Kernel], parameters[kHidden1Bias]));
  const Numbers hidden2 =
      without_negative(slow_layer(hidden1, parameters[kHidden2Kernel], parameters[kHidden2Bias]));
  return slow_layer(hidden2, parameters[kOutputKernel], parameters[kOutputBias]);
}

inline double slow_loss(const Digits& digits, std::span<const std::size_t> images,
                        const std::vector<Numbers>& parameters) {
  double loss = 0;
  for (const std::size_t image : images) {
    const Numbers logits = slow_logits(digits, image, parameters);
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    loss += std::log(sum) - logits[digits.labels[image]];
  }
  return loss / static_cast<double>(images.size());
}

}  // namespace fanin::training
