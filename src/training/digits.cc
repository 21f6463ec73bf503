#include "training/digits.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "core/require.h"
#include "training/random.h"

namespace fanin::training {
namespace {

/// A letter for each pixel, "a" for 0 and so on, then the label.
constexpr std::string_view kImages[] = {
#include "training/digits/digits.inc"
};

/// Which images are for the test must never depend on the seed of a run.
constexpr std::uint64_t kSplitSeed = 1797;

}  // namespace

Digits load_digits() {
  Digits digits;
  digits.pixels.reserve(std::size(kImages) * kPixelCount);
  digits.labels.reserve(std::size(kImages));
  for (const std::string_view image : kImages) {
    for (const char letter : image.substr(0, kPixelCount))
      digits.pixels.push_back(static_cast<std::uint8_t>(letter - 'a'));
    digits.labels.push_back(static_cast<std::uint8_t>(image.back() - '0'));
  }
  digits.train.resize(digits.count());
  std::iota(digits.train.begin(), digits.train.end(), std::size_t{0});
  Random(kSplitSeed).shuffle(digits.train);
  const auto split = digits.train.begin() + static_cast<std::ptrdiff_t>(digits.count() * 4 / 5);
  digits.test.assign(split, digits.train.end());
  digits.train.erase(split, digits.train.end());
  return digits;
}

std::vector<std::vector<std::size_t>> batches(std::span<const std::size_t> images,
                                              std::uint64_t seed, std::uint64_t epoch,
                                              std::size_t batch_size) {
  require(0 < batch_size && batch_size <= images.size(), ErrorKind::kBadOption,
          "A batch of {} images cannot be made of {}: it has at least one and at most all of them",
          batch_size, images.size());
  std::vector<std::size_t> order(images.begin(), images.end());
  Random(seed, epoch).shuffle(order);
  std::vector<std::vector<std::size_t>> batches(order.size() / batch_size);
  auto next = order.begin();
  for (auto& batch : batches) {
    const auto begin = next;
    next += static_cast<std::ptrdiff_t>(batch_size);
    batch.assign(begin, next);
  }
  return batches;
}

}  // namespace fanin::training
