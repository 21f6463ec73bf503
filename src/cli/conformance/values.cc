#include "cli/conformance/values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/require.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

[[noreturn]] void throw_malformed(const std::string& what) {
  throw InvalidArgument(ErrorKind::kBadFile, what);
}

template <typename... Ts, typename Use>
void with_one_of(DType dtype, const Use& use) {
  const bool found = (... || (dtype == dtype_of<Ts> && (use(Ts()), true)));
  if (!found) throw_malformed("a dtype is missing from a list");
}

/// Calls `use` with a value of the element type.
template <typename Use>
void with_element_type(DType dtype, const Use& use) {
  with_one_of<Float16, BFloat16, float, double, std::int8_t, std::int16_t, std::int32_t,
              std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(dtype, use);
}

template <typename T>
double to_double(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(static_cast<float>(value));
}

template <typename T>
T from_double(double value) {
  T element;
  if constexpr (std::is_floating_point_v<T>)
    element = static_cast<T>(value);
  else
    element = T(static_cast<float>(value));
  if (!std::isnan(value) && to_double(element) != value)
    throw_malformed(fmt::format("{} is not exact in its dtype", value));
  return element;
}

template <typename T>
T parse_float(const json& element) {
  if (element.is_number()) return from_double<T>(element.get<double>());
  const std::pair<const char*, double> words[] = {
      {"nan", std::numeric_limits<double>::quiet_NaN()},
      {"inf", std::numeric_limits<double>::infinity()},
      {"-inf", -std::numeric_limits<double>::infinity()},
      {"-0.0", -0.0}};
  for (const auto& [word, value] : words)
    if (element == word) return from_double<T>(value);
  throw_malformed("element " + element.dump() + " is not a number");
}

template <typename T>
T parse_integer(const json& element) {
  if (!element.is_number_integer()) throw_malformed("element " + element.dump() + " is no integer");
  const bool fits = element.is_number_unsigned() ? std::in_range<T>(element.get<std::uint64_t>())
                                                 : std::in_range<T>(element.get<std::int64_t>());
  if (!fits) throw_malformed("element " + element.dump() + " does not fit its dtype");
  return element.is_number_unsigned() ? static_cast<T>(element.get<std::uint64_t>())
                                      : static_cast<T>(element.get<std::int64_t>());
}

template <typename T>
T parse_element(const json& element) {
  if constexpr (std::is_integral_v<T>)
    return parse_integer<T>(element);
  else
    return parse_float<T>(element);
}

/// Element `index` of a filled tensor, which is exact in its dtype.
template <typename T>
T filled_element(const json& filled, std::size_t index) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(filled.at("start").get<std::uint64_t>() +
                          index * filled.at("step").get<std::uint64_t>());
  else
    return from_double<T>(filled.at("start").get<double>() +
                          static_cast<double>(index) * filled.at("step").get<double>());
}

template <typename T>
Tensor parse_tensor(const json& tensor, Shape shape) {
  std::vector<T> elements;
  if (tensor.contains("fill")) {
    if (tensor.at("fill") != "arange") throw_malformed("fill " + tensor.at("fill").dump());
    for (std::size_t i = 0; i < shape.element_count(); ++i)
      elements.push_back(filled_element<T>(tensor, i));
  } else {
    for (const json& element : tensor.at("data")) elements.push_back(parse_element<T>(element));
  }
  if (elements.size() != shape.element_count())
    throw_malformed(fmt::format("{} elements for shape {}", elements.size(), to_string(shape)));
  return Tensor::of<T>(elements, std::move(shape));
}

Tensor make_tensor(const json& tensor) {
  DType dtype{};
  Shape shape;
  try {
    dtype = parse_dtype(tensor.at("dtype").get<std::string>());
    shape = Shape(tensor.at("shape").get<std::vector<std::int64_t>>());
  } catch (const InvalidArgument& error) {
    throw_malformed(error.what());
  }
  Tensor made;
  with_element_type(dtype, [&](auto element) {
    made = parse_tensor<decltype(element)>(tensor, std::move(shape));
  });
  return made;
}

template <typename T>
json element_json(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    const double number = to_double(value);
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
    if (number == 0 && std::signbit(number)) return "-0.0";
    return number;
  }
}

}  // namespace

Tensor Inputs::tensor(const json& json) {
  Tensor tensor = make_tensor(json);
  made_.push_back({tensor, {tensor.bytes().begin(), tensor.bytes().end()}});
  return tensor;
}

IndexedSlices Inputs::sparse(const json& json) {
  std::optional<Shape> dense_shape;
  if (!json.at("dense_shape").is_null())
    dense_shape = Shape(json.at("dense_shape").get<std::vector<std::int64_t>>());
  return {tensor(json.at("values")), tensor(json.at("indices")), std::move(dense_shape)};
}

Value Inputs::value(const json& json) {
  if (json.contains("values")) return sparse(json);
  return tensor(json);
}

std::optional<Value> Inputs::term(const json& json) {
  if (json.is_null()) return std::nullopt;
  return value(json);
}

std::vector<std::optional<Value>> Inputs::terms(const json& json) {
  std::vector<std::optional<Value>> terms;
  for (const auto& each : json) terms.push_back(term(each));
  return terms;
}

bool Inputs::have_changed() const {
  return std::ranges::any_of(
      made_, [](const Made& made) { return !std::ranges::equal(made.tensor.bytes(), made.bytes); });
}

json to_json(const Shape& shape) { return std::vector(shape.dims().begin(), shape.dims().end()); }

json to_json(const Tensor& tensor) {
  json data = json::array();
  with_element_type(tensor.dtype(), [&](auto element) {
    for (const auto value : tensor.to_vector<decltype(element)>())
      data.push_back(element_json(value));
  });
  return {{"dtype", name(tensor.dtype())}, {"shape", to_json(tensor.shape())}, {"data", data}};
}

json to_json(const Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return to_json(*tensor);
  const auto& slices = std::get<IndexedSlices>(value);
  return {{"values", to_json(slices.values)},
          {"indices", to_json(slices.indices)},
          {"dense_shape", slices.dense_shape ? to_json(*slices.dense_shape) : json()}};
}

void sort(json& list) { std::sort(list.begin(), list.end()); }

json normalised(const json& answer) {
  if (answer.is_object() && answer.contains("dtype") && answer.contains("shape") &&
      (answer.contains("data") || answer.contains("fill")))
    return to_json(make_tensor(answer));
  json result = answer;
  if (result.is_structured())
    for (json& part : result) part = normalised(part);
  if (!result.is_object()) return result;
  if (result.contains("kind") && result.contains("devices")) sort(result["devices"]);
  if (result.contains("groups")) sort(result["groups"]);
  if (result.contains("packs") && !result["packs"].empty() && result["packs"][0].is_object())
    sort(result["packs"]);  // packs that are lists of tensors have an order
  return result;
}

PerReplica per_replica(const json& object, Inputs& inputs) {
  std::vector<Value> values;
  for (const json& component : object.at("per_replica"))
    values.push_back(on_device(inputs.value(component.at("value")),
                               parse_device(component.at("device").get<std::string>())));
  return values;
}

json result_to_json(const Result& result) {
  const auto* mirrored = std::get_if<Mirrored>(&result);
  const std::vector<Value> components =
      mirrored != nullptr ? mirrored->values() : std::vector<Value>{std::get<Value>(result)};
  json devices = json::array();
  json values = json::array();
  for (const Value& component : components) {
    devices.push_back(to_string(device_of(component)));
    const json value = to_json(component);
    if (values.empty() || values.back() != value) values.push_back(value);
  }
  return {{"kind", mirrored != nullptr ? "mirrored" : "bare"},
          {"devices", devices},
          {"value", values.size() == 1 ? values.front() : values}};
}

json sum_to_json(const std::optional<Value>& sum) {
  if (!sum) return {{"none", true}};
  return {{"value", to_json(*sum)}};
}

Accumulation accumulation_of(const json& arguments) {
  const auto text = arguments.value("accumulation", std::string("default"));
  return text == "default" ? Accumulation::kWide : parse_accumulation(text);
}

}  // namespace fanin::cli
