#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fanin/indexed_slices.h"

namespace fanin::cli {

/// Makes values from a case's JSON, and remembers them to see whether a call has changed one.
/// Throws InvalidArgument (kBadFile) or a JSON exception if the JSON is not that of a value.
class Inputs {
 public:
  Tensor tensor(const nlohmann::json& json);
  IndexedSlices sparse(const nlohmann::json& json);
  Value value(const nlohmann::json& json);
  std::optional<Value> term(const nlohmann::json& json);  ///< null is a missing one

  /// Whether any value has other bytes than when it was made.
  bool have_changed() const;

 private:
  struct Made {
    Tensor tensor;
    std::vector<std::byte> bytes;
  };
  std::vector<Made> made_;
};

nlohmann::json to_json(const Tensor& tensor);
nlohmann::json to_json(const Shape& shape);
nlohmann::json to_json(const Value& value);

/// An answer in which each tensor is written in the one way in which to_json() writes it, so that
/// equal answers are equal JSON. Any NaN is "nan".
nlohmann::json normalised(const nlohmann::json& answer);

}  // namespace fanin::cli
