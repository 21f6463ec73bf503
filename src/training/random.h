#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace fanin::training {

/// Random numbers that are the same with every standard library: splitmix64 (Steele, Lea and Flood,
/// 2014), which walks by a constant and mixes.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// Another sequence for each pair of numbers.
  Random(std::uint64_t seed, std::uint64_t stream) : state_(Random(seed).bits() ^ stream) {
    state_ = bits();
  }

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  /// From -1 up to but not 1, all multiples of 2^-23, which float32 holds exactly.
  float between_minus_one_and_one() {
    return static_cast<float>(static_cast<std::int32_t>(bits() >> 40) - (1 << 23)) * 0x1p-23F;
  }

  /// From 0 to count - 1, for counts far below 2^32.
  std::size_t below(std::size_t count) {
    assert(0 < count && count < std::size_t{1} << 32);
    return (bits() >> 32) * count >> 32;
  }

  /// By Fisher and Yates, from the last element to the first.
  void shuffle(std::span<std::size_t> elements) {
    for (std::size_t left = elements.size(); left > 1; --left)
      std::swap(elements[left - 1], elements[below(left)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace fanin::training
