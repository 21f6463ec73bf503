#include "cli/selftest/checks.h"

#include <cmath>
#include <cstring>

namespace fanin::cli {

void Tally::count(bool good, const std::string& what) {
  if (good)
    ++right;
  else
    wrong.push_back(what);
}

void Tally::add(const Tally& other) {
  right += other.right;
  wrong.insert(wrong.end(), other.wrong.begin(), other.wrong.end());
}

Tensor uneven_numbers(int rank, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = std::ldexp(std::sin(static_cast<float>(i + 1) * static_cast<float>(rank + 1)),
                            static_cast<int>((i * 7 + static_cast<std::size_t>(rank) * 5) % 24));
  return Tensor::of(std::span<const float>(numbers), Shape{static_cast<std::int64_t>(count)});
}

bool same_bits(const Tensor& left, const Tensor& right) {
  if (left.dtype() != right.dtype() || left.shape() != right.shape()) return false;
  const std::span<const std::byte> bytes = left.bytes();
  return bytes.empty() || std::memcmp(bytes.data(), right.bytes().data(), bytes.size()) == 0;
}

}  // namespace fanin::cli
