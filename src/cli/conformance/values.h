#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fanin/cross_device_ops.h"
#include "fanin/indexed_slices.h"
#include "fanin/reduce_op.h"

namespace fanin::cli {

/// Makes values from a case's JSON, and remembers them to see whether a call has changed one.
/// Throws InvalidArgument (kBadFile) or a JSON exception if the JSON is not that of a value.
class Inputs {
 public:
  Tensor tensor(const nlohmann::json& json);
  IndexedSlices sparse(const nlohmann::json& json);
  Value value(const nlohmann::json& json);
  std::optional<Value> term(const nlohmann::json& json);                ///< null is a missing one
  std::vector<std::optional<Value>> terms(const nlohmann::json& json);  ///< a list of these

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

/// {"value": ..}, or {"none": true}.
nlohmann::json sum_to_json(const std::optional<Value>& sum);

/// A value with a component for each replica.
PerReplica per_replica(const nlohmann::json& json, Inputs& inputs);

/// {"kind", "devices", "value"}; what differs from device to device is a list of values.
nlohmann::json result_to_json(const Result& result);

/// How the cases call an accumulation: "default" is wide.
Accumulation accumulation_of(const nlohmann::json& arguments);

/// An answer in which each tensor is written in the one way in which to_json() writes it, so that
/// equal answers are equal JSON. Any NaN is "nan". What has no
/// order is sorted.
nlohmann::json normalised(const nlohmann::json& answer);

}  // namespace fanin::cli
