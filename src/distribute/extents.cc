#include "distribute/extents.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/require.h"

namespace fanin {
namespace {

/// a + b * c.
std::int64_t add_product(std::int64_t a, std::int64_t b, std::int64_t c) {
  std::int64_t result = 0;
  require(!__builtin_mul_overflow(b, c, &result) && !__builtin_add_overflow(a, result, &result),
          ErrorKind::kShapeMismatch,
          "the parts have more rows together than 63 bits count; give smaller extents");
  return result;
}

}  // namespace

Extents::Extents(std::vector<std::int64_t> rows) : rows_(std::move(rows)) {
  if (!rows_.empty() &&
      std::ranges::adjacent_find(rows_, std::ranges::not_equal_to()) == rows_.end())
    rows_.erase(rows_.begin() + 1, rows_.end());
}

std::int64_t Extents::sum(const PartList& parts) const {
  if (rows_.size() == 1) return add_product(0, rows_.front(), parts.count);
  std::int64_t sum = 0;
  for (int i = 0; i < parts.count; ++i)
    sum = add_product(sum, of(parts.first + i * parts.stride), 1);
  return sum;
}

std::string to_string(const Extents& extents) {
  if (!extents.are_known()) return "no extents";
  if (extents.numbers().size() == 1)
    return fmt::format("{} rows a part", extents.numbers().front());
  return fmt::format("extents [{}]", fmt::join(extents.numbers(), ","));
}

}  // namespace fanin
