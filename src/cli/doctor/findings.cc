#include "cli/doctor/findings.h"

#include <fmt/core.h>

#include <cerrno>

namespace fanin::cli {

std::string_view name(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kMissing:
      return "missing";
    case Health::kForbidden:
      return "forbidden";
  }
  return "";
}

Health health_of(int error) { return error == ENOSYS ? Health::kMissing : Health::kForbidden; }

std::string range_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace fanin::cli
