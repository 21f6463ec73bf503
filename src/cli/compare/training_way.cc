#include "cli/compare/training_way.h"

#include <algorithm>

#include "cli/compare/measure.h"
#include "core/require.h"

namespace fanin::cli {
namespace {

template <typename Add>
void for_each_name(std::string_view names, const Add& add) {
  while (true) {
    const std::size_t end = names.find(',');
    add(names.substr(0, end));
    if (end == std::string_view::npos) return;
    names.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<TrainingWay> training_ways(const std::optional<std::string>& methods,
                                       const std::optional<std::string>& specs) {
  const bool is_told = methods || specs;
  std::vector<TrainingWay> ways;
  const auto add = [&](TrainingWay way) {
    const bool is_there = std::ranges::any_of(ways, [&](const TrainingWay& each) {
      return each.method == way.method && each.spec == way.spec;
    });
    if (!is_there) ways.push_back(std::move(way));
  };
  if (methods || !is_told)
    for_each_name(methods ? *methods : kUsualMethods, [&](std::string_view name) {
      TrainingWay way{.label = ""};
      way.method = parse_aggregation_method(name);
      way.label = text_of(Way{.method = way.method});
      add(std::move(way));
    });
  if (specs || !is_told)
    for_each_name(specs ? *specs : kUsualSpecs, [&](std::string_view name) {
      TrainingWay way{.label = ""};
      way.spec = AllReduceSpec(name);
      way.label = to_string(way.spec);
      add(std::move(way));
    });
  require(ways.size() > 1, ErrorKind::kBadOption,
          "{} alone has nothing to be compared with; name at least two ways", ways.front().label);
  return ways;
}

}  // namespace fanin::cli
