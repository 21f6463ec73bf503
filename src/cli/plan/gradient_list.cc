#include "cli/plan/gradient_list.h"

#include <nlohmann/json.hpp>

#include "cli/compare/gradient_set.h"
#include "core/require.h"
#include "files/file.h"
#include "files/safetensors_reader.h"

namespace fanin::cli {
namespace {

std::vector<TensorInfo> read_json(const std::string& path) {
  const File file = File::open_to_read(path);
  std::string text(file.size(), '\0');
  text.resize(file.read(std::as_writable_bytes(std::span(text)), 0));
  try {
    std::vector<TensorInfo> tensors;
    for (const nlohmann::json& each : nlohmann::json::parse(text))
      tensors.push_back({each.at("name").get<std::string>(),
                         parse_dtype(each.at("dtype").get<std::string>()),
                         Shape(each.at("shape").get<std::vector<std::int64_t>>())});
    return tensors;
  } catch (const nlohmann::json::exception&) {
    throw InvalidArgument(
        ErrorKind::kBadFile,
        fmt::format("{} is not a JSON list of objects with name, dtype and shape", path));
  }
}

std::vector<TensorInfo> read_safetensors(const std::string& path) {
  const SafetensorsReader reader(path);
  std::vector<TensorInfo> tensors;
  for (const SafetensorsEntry& entry : reader.entries())
    tensors.push_back({entry.name, entry.dtype, entry.shape});
  return tensors;
}

}  // namespace

std::vector<TensorInfo> read_gradient_list(const std::string& name, DType dtype) {
  if (name.ends_with(".json")) return read_json(name);
  if (name.ends_with(".safetensors")) return read_safetensors(name);
  std::vector<TensorInfo> tensors;
  for (const GradientShape& gradient : model_gradients(name))
    tensors.push_back({gradient.name, dtype, gradient.shape});
  return tensors;
}

}  // namespace fanin::cli
