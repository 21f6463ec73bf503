#include "fanin/all_reduce_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "core/require.h"

namespace fanin {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"nccl", "xring", "rechd", "pscpu", "psgpu"};
constexpr std::string_view kUnits = "KMG";

bool is_known(std::string_view name) { return std::ranges::find(kNames, name) != kNames.end(); }

bool is_known_algorithm(std::string_view algorithm) {
  const std::size_t slash = algorithm.find('/');
  if (slash == std::string_view::npos) return is_known(algorithm);
  return is_known(algorithm.substr(0, slash)) && is_known(algorithm.substr(slash + 1));
}

/// A whole number that is all of the text.
template <typename Number>
std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "32K". Nothing if it is not a limit.
std::optional<std::int64_t> read_limit(std::string_view text) {
  int shift = 0;
  if (!text.empty()) {
    const char last = text.back() >= 'a' ? static_cast<char>(text.back() - 'a' + 'A') : text.back();
    if (const std::size_t unit = kUnits.find(last); unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = read_number<std::int64_t>(text);
  if (!number || *number < 0 || *number > std::numeric_limits<std::int64_t>::max() >> shift)
    return std::nullopt;
  return *number << shift;
}

std::string limit_text(std::int64_t limit) {
  for (std::size_t unit = kUnits.size(); unit-- > 0;) {
    const std::int64_t size = std::int64_t{1} << 10 * (unit + 1);
    if (limit > 0 && limit % size == 0) return fmt::format("{}{}", limit / size, kUnits[unit]);
  }
  return fmt::format("{}", limit);
}

std::string name_text(const AllReduceSpec::Element& element) {
  if (element.shard_count == 1) return element.algorithm;
  return fmt::format("{}#{}", element.algorithm, element.shard_count);
}

std::string tuple_text(const AllReduceSpec::Element& element) {
  return fmt::format("(\"{}\", {}, {})", element.algorithm, element.shard_count, element.limit);
}

/// "pscpu#2", as it stands in a string.
AllReduceSpec::Element read_element(std::string_view text, std::string_view spec) {
  const std::size_t mark = text.find('#');
  AllReduceSpec::Element element{.algorithm = std::string(text.substr(0, mark))};
  if (mark == std::string_view::npos) return element;
  const auto shards = read_number<int>(text.substr(mark + 1));
  require(shards && *shards >= 1, ErrorKind::kBadSpec,
          "\"{}\" in the spec \"{}\" does not say a number of shards; after # comes 1 or more",
          text, spec);
  element.shard_count = *shards;
  return element;
}

std::vector<AllReduceSpec::Element> read_elements(std::string_view spec) {
  std::vector<AllReduceSpec::Element> elements;
  for (std::string_view rest = spec;;) {
    const std::size_t name_end = rest.find(':');
    elements.push_back(read_element(rest.substr(0, name_end), spec));
    if (name_end == std::string_view::npos) return elements;
    rest.remove_prefix(name_end + 1);
    const std::size_t limit_end = rest.find(':');
    const std::string_view text = rest.substr(0, limit_end);
    const auto limit = read_limit(text);
    require(limit.has_value(), ErrorKind::kBadSpec,
            "\"{}\" in the spec \"{}\" is not a limit; use bytes from 0 up, with K, M or G if you "
            "like, such as 32K",
            text, spec);
    require(limit_end != std::string_view::npos, ErrorKind::kBadSpec,
            "nothing follows the limit \"{}\" in the spec \"{}\"; name the algorithm for what is "
            "larger, such as {}:xring",
            text, spec, spec);
    elements.back().limit = *limit;
    rest.remove_prefix(limit_end + 1);
  }
}

void check_elements(const std::vector<AllReduceSpec::Element>& elements) {
  require(!elements.empty(), ErrorKind::kBadSpec,
          "a spec without an element says nothing; name an algorithm, such as xring");
  std::int64_t before = -1;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const AllReduceSpec::Element& element = elements[i];
    const bool is_last = i + 1 == elements.size();
    const auto text = [&] { return tuple_text(element); };
    require(is_known_algorithm(element.algorithm), ErrorKind::kBadSpec,
            "there is no algorithm \"{}\" for element {} of a spec; use one of {}, or two as "
            "nccl/xring",
            element.algorithm, i, fmt::join(kNames, ", "));
    require(element.shard_count >= 1, ErrorKind::kBadSpec,
            "element {} of the spec, {}, has {} shards; use 1 or more", i, text(),
            element.shard_count);
    if (element.limit == AllReduceSpec::kNoLimit) {
      require(is_last, ErrorKind::kBadSpec,
              "element {} of the spec, {}, takes every size, but another follows; only the last "
              "limit is -1",
              i, text());
      continue;
    }
    require(!is_last, ErrorKind::kBadSpec,
            "the last element of the spec, {}, has the limit {}; it must take every size, with -1",
            text(), element.limit);
    require(element.limit >= 0, ErrorKind::kBadSpec,
            "element {} of the spec, {}, has a negative limit; use bytes from 0 up, and -1 for the "
            "last",
            i, text());
    require(element.limit > before, ErrorKind::kBadSpec,
            "element {} of the spec, {}, takes no size that the one before leaves (up to {}); "
            "limits must rise",
            i, text(), before);
    before = element.limit;
  }
}

}  // namespace

AllReduceSpec::AllReduceSpec(std::string_view text) : AllReduceSpec(read_elements(text)) {}

AllReduceSpec::AllReduceSpec(std::vector<Element> elements) : elements_(std::move(elements)) {
  check_elements(elements_);
}

std::size_t AllReduceSpec::select(const std::vector<Element>& elements, std::size_t bytes) {
  std::size_t element = 0;
  while (element + 1 < elements.size() && bytes > static_cast<std::size_t>(elements[element].limit))
    ++element;
  return element;
}

std::string to_string(const AllReduceSpec& spec) {
  std::string text;
  for (const AllReduceSpec::Element& element : spec.elements()) {
    text += name_text(element);
    if (element.limit != AllReduceSpec::kNoLimit)
      text += fmt::format(":{}:", limit_text(element.limit));
  }
  return text;
}

std::string to_list_string(const AllReduceSpec& spec) {
  std::vector<std::string> tuples;
  for (const AllReduceSpec::Element& element : spec.elements())
    tuples.push_back(tuple_text(element));
  return fmt::format("[{}]", fmt::join(tuples, ", "));
}

}  // namespace fanin
