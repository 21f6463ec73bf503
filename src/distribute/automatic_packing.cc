#include "fanin/automatic_packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>

#include "core/bytes_text.h"

namespace fanin {
namespace {

constexpr double kLeastPackBytes = 64 << 10;
constexpr double kMostPackBytes = 256 << 20;

constexpr std::size_t kShortPackBytes = 64;
constexpr std::size_t kLongPackBytes = std::size_t{2} << 20;
constexpr int kShortRounds = 15;
constexpr int kLongRounds = 5;

/// The median of some all-reduces of so many bytes, after one that does not count.
double measure(Group& group, std::size_t bytes, int rounds, const AllReduceOptions& options) {
  const Buffer buffer = group.allocate(bytes);
  std::memset(buffer.bytes().data(), 0, bytes);
  const Shape shape{static_cast<std::int64_t>(bytes / sizeof(float))};
  const Tensor input = Tensor::view(buffer.bytes(), DType::kFloat32, shape);
  const TensorView output{buffer.bytes(), DType::kFloat32, shape};
  std::vector<double> seconds;
  for (int i = 0; i <= rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    group.all_reduce(input, output, options);
    if (i > 0)
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::nth_element(seconds, seconds.begin() + rounds / 2);
  return seconds[static_cast<std::size_t>(rounds / 2)];
}

}  // namespace

AutomaticPacking choose_packing(std::size_t gradient_bytes, const PackCost& cost) {
  const double best = std::sqrt(static_cast<double>(gradient_bytes) * cost.seconds /
                                std::max(cost.seconds_per_byte, 1e-15));
  const double nearest =
      std::exp2(std::round(std::log2(std::clamp(best, kLeastPackBytes, kMostPackBytes))));
  const auto bytes = static_cast<std::int64_t>(nearest);
  return {bytes,
          fmt::format("automatic: packs of {}, because one costs {:.1f} us and {:.2f} ns a KiB "
                      "here, and there are {} of gradients",
                      bytes_text(static_cast<std::size_t>(bytes)), cost.seconds * 1e6,
                      cost.seconds_per_byte * 1024e9, bytes_text(gradient_bytes))};
}

PackCost measure_pack_cost(Group& group, const AllReduceOptions& how) {
  AllReduceOptions options = how;
  if (!options.epoch) options.epoch = group.epoch();
  const double small = measure(group, kShortPackBytes, kShortRounds, options);
  const double large = measure(group, kLongPackBytes, kLongRounds, options);
  std::array<double, 2> numbers = {small, std::max(large - small, 0.0) / kLongPackBytes};
  group.broadcast(TensorView::over(std::span<double>(numbers), Shape{2}), 0,
                  {.timeout = options.timeout, .epoch = options.epoch});
  return {numbers[0], numbers[1]};
}

AutomaticPacking PackingOfGroup::choose(std::size_t gradient_bytes,
                                        const AllReduceOptions& options) {
  const std::uint64_t now = options.epoch.value_or(group_->epoch());
  if (!cost_ || epoch_ != now) {
    cost_ = measure_pack_cost(*group_, options);
    epoch_ = now;
  }
  return choose_packing(gradient_bytes, *cost_);
}

}  // namespace fanin
