#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fanin::training {

inline constexpr std::size_t kImageSide = 8;
inline constexpr std::size_t kPixelCount = kImageSide * kImageSide;  ///< of an image
inline constexpr std::size_t kInkCount = 17;                         ///< values of a pixel
inline constexpr std::size_t kClassCount = 10;

/// Handwritten digits, small enough to be part of the program: digits/README.md says whose they
/// are. An image is named by its number.
struct Digits {
  std::vector<std::uint8_t> pixels;  ///< [image, row, column]: 0 (paper) to 16 (ink)
  std::vector<std::uint8_t> labels;  ///< [image]: 0 to 9

  /// Four of five images, and the others, drawn by lot once and for all. In the order of the lot.
  std::vector<std::size_t> train;
  std::vector<std::size_t> test;

  std::size_t count() const { return labels.size(); }
  std::span<const std::uint8_t> image(std::size_t number) const {
    return std::span(pixels).subspan(number * kPixelCount, kPixelCount);
  }
};

/// All 1797: 1437 to train with, 360 to test.
Digits load_digits();

/// The images of one epoch, batch after batch: a permutation that follows from seed and epoch, less
/// the rest that fills no batch. Throws InvalidArgument (kBadOption) if a batch is empty or larger
/// than the list.
std::vector<std::vector<std::size_t>> batches(std::span<const std::size_t> images,
                                              std::uint64_t seed, std::uint64_t epoch,
                                              std::size_t batch_size);

}  // namespace fanin::training
