#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/goal.h"

namespace fanin {

/// How many rows the parts of a call's data have, part after part.
class Extents {
 public:
  /// Not known, or there are no parts.
  Extents() = default;

  /// All parts have as many.
  explicit Extents(std::int64_t rows) : rows_(1, rows) {}

  /// A number for each part. Equal ones are the same as one number for all.
  explicit Extents(std::vector<std::int64_t> rows);

  bool are_known() const { return !rows_.empty(); }
  std::int64_t of(int part) const {
    return rows_[rows_.size() == 1 ? 0 : static_cast<std::size_t>(part)];
  }

  /// Of some parts. Throws InvalidArgument (kShapeMismatch) if they are more than can be counted.
  std::int64_t sum(const PartList& parts) const;

  /// A number for each part, or one for all, or none.
  const std::vector<std::int64_t>& numbers() const { return rows_; }

  friend bool operator==(const Extents&, const Extents&) = default;

 private:
  std::vector<std::int64_t> rows_;
};

/// "extents [3,0,2]", "3 rows a part", "no extents".
std::string to_string(const Extents& extents);

}  // namespace fanin
