#include "fanin/aggregation_method.h"

#include <array>
#include <string>

#include "core/require.h"
#include "core/text.h"

namespace fanin {
namespace {

constexpr std::string_view kPrefix = "EXPERIMENTAL_";
constexpr std::array<std::string_view, 4> kNames = {"ADD_N", "EXPERIMENTAL_TREE",
                                                    "EXPERIMENTAL_ACCUMULATE_N", "AUTO"};
constexpr std::string_view kChoice =
    "use ADD_N or DEFAULT (0), EXPERIMENTAL_TREE (1), EXPERIMENTAL_ACCUMULATE_N (2) or AUTO (3)";

}  // namespace

void check(AggregationMethod method) {
  const auto number = static_cast<std::int32_t>(method);
  require(number >= 0 && static_cast<std::size_t>(number) < kNames.size(), ErrorKind::kBadMethod,
          "{} is not an aggregation method; {}", number, kChoice);
}

std::string_view name(AggregationMethod method) {
  check(method);
  return kNames[static_cast<std::size_t>(method)];
}

AggregationMethod parse_aggregation_method(std::string_view text) {
  const std::string wanted = to_upper(text);
  if (wanted == "DEFAULT") return AggregationMethod::kDefault;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    std::string_view known = kNames[i];
    if (known == wanted) return static_cast<AggregationMethod>(i);
    if (known.starts_with(kPrefix) && known.substr(kPrefix.size()) == wanted)
      return static_cast<AggregationMethod>(i);
  }
  throw InvalidArgument(ErrorKind::kBadMethod,
                        fmt::format("\"{}\" is not an aggregation method; {}", text, kChoice));
}

}  // namespace fanin
