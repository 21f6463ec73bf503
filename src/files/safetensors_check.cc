#include "files/safetensors_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

#include "core/require.h"
#include "files/damaged_header.h"
#include "files/quote_name.h"
#include "files/safetensors_dtype.h"

namespace fanin {
namespace {

/// Names the tensors that cannot be summed, the first few of them.
void check_dtypes(std::span<const SafetensorsJson::Tensor> tensors) {
  constexpr std::size_t kMostNamed = 5;
  std::string named;
  std::size_t count = 0;
  for (const auto& tensor : tensors) {
    if (find_safetensors_dtype(tensor.dtype) || ++count > kMostNamed) continue;
    named += fmt::format("{}{} is {}", named.empty() ? "" : ", ", quote_name(tensor.name),
                         quote_name(tensor.dtype));
  }
  require(count == 0, ErrorKind::kBadFile,
          "has tensors whose dtypes cannot be summed: {}{}; use F16, BF16, F32, F64, I8, I16, I32, "
          "I64, U8, U16, U32 or U64",
          named, count > kMostNamed ? fmt::format(" and {} more", count - kMostNamed) : "");
}

/// "[2,3]"; only the beginning of a very long list.
std::string list_text(std::span<const std::uint64_t> numbers) {
  constexpr std::size_t kMostShown = 16;
  return fmt::format("[{}{}]", fmt::join(numbers.first(std::min(numbers.size(), kMostShown)), ","),
                     numbers.size() > kMostShown ? ",..." : "");
}

Shape checked_shape(const SafetensorsJson::Tensor& tensor) {
  try {
    // What does not fit becomes negative, which is refused.
    return Shape(std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end()));
  } catch (const InvalidArgument&) {
    refuse_header("tensor {} has shape {}, with more elements than memory can hold",
                  quote_name(tensor.name), list_text(tensor.shape));
  }
}

SafetensorsEntry checked_entry(const SafetensorsJson::Tensor& tensor) {
  const auto& offsets = tensor.data_offsets;
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    refuse_header(
        "tensor {} has data_offsets {}; they are two, where its data begin and where they end",
        quote_name(tensor.name), list_text(offsets));
  SafetensorsEntry entry{.name = tensor.name,
                         .dtype = *find_safetensors_dtype(tensor.dtype),
                         .shape = checked_shape(tensor),
                         .offset = offsets[0]};
  if (offsets[1] - offsets[0] != entry.byte_count())
    refuse_header("tensor {} has {} bytes of data, but {} of shape {} needs {}",
                  quote_name(tensor.name), offsets[1] - offsets[0], tensor.dtype,
                  list_text(tensor.shape), entry.byte_count());
  return entry;
}

void check_places(std::span<const SafetensorsEntry> entries) {
  std::size_t end = 0;
  const SafetensorsEntry* before = nullptr;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.offset < end)
      refuse_header("tensors {} and {} overlap at byte {} of the data", quote_name(before->name),
                    quote_name(entry.name), entry.offset);
    if (entry.offset > end)
      refuse_header("bytes {} to {} of the data belong to no tensor; there must be no holes", end,
                    entry.offset);
    end = entry.offset + entry.byte_count();
    before = &entry;
  }
}

}  // namespace

std::vector<SafetensorsEntry> check_safetensors(std::span<const SafetensorsJson::Tensor> tensors) {
  check_dtypes(tensors);
  std::vector<SafetensorsEntry> entries;
  entries.reserve(tensors.size());
  for (const auto& tensor : tensors) entries.push_back(checked_entry(tensor));
  // An empty tensor stands before the one that begins at the same byte.
  std::ranges::stable_sort(entries, {}, [](const SafetensorsEntry& entry) {
    return std::tuple(entry.offset, entry.byte_count());
  });
  check_places(entries);
  return entries;
}

}  // namespace fanin
