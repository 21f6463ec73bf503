#include "fanin/device.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "core/require.h"
#include "core/text.h"

namespace fanin {
namespace {

/// Splits at the first `separator`; the second half is nothing if there is none.
std::pair<std::string_view, std::optional<std::string_view>> split(std::string_view text,
                                                                   char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, at), text.substr(at + 1)};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Device parse() {
    std::string_view rest = text_;
    if (rest.starts_with('/')) rest.remove_prefix(1);
    std::optional<std::string_view> next = rest;
    while (next) {
      const auto [part, after] = split(*next, '/');
      parse_part(part);
      next = after;
    }
    return device_;
  }

 private:
  void parse_part(std::string_view part) {
    const auto [key, value] = split(part, ':');
    if (key == "job") {
      once("job");
      check(value && is_name(*value), "a job is a name of letters, digits, '_' or '-'");
      device_.job = *value;
    } else if (key == "replica") {
      once("replica");
      device_.replica = number(value);
    } else if (key == "task") {
      once("task");
      device_.task = number(value);
    } else if (key == "device") {
      check(value.has_value(), "write device:TYPE:N");
      const auto [type, index] = split(*value, ':');
      set_type(type);
      device_.index = number(index);
    } else {
      set_type(key);
      if (value) device_.index = number(value);
    }
  }

  void set_type(std::string_view type) {
    once("device");
    device_.type = to_upper(type);
    check(device_.type == "CPU" || device_.type == "GPU", "a device is a cpu or a gpu");
  }

  int number(std::optional<std::string_view> digits) const {
    int value = 0;
    const std::string_view text = digits.value_or("");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    check(error == std::errc() && end == text.data() + text.size() && text.front() != '-',
          "an index is a whole number from 0 to 2147483647");
    return value;
  }

  static bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {  // in every locale the same
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-';
    });
  }

  void once(const char* part) { check(seen_.insert(part).second, "a part may stand only once"); }

  void check(bool good, std::string_view rule) const {
    require(good, ErrorKind::kBadDevice,
            "\"{}\" is not a device: {}; write for example \"/gpu:0\" or "
            "\"/job:worker/task:1/device:CPU:0\"",
            text_, rule);
  }

  std::string_view text_;
  Device device_;
  std::set<std::string_view> seen_;
};

}  // namespace

Device parse_device(std::string_view text) { return Parser(text).parse(); }

std::string to_string(const Device& device) {
  return fmt::format("/job:{}/replica:{}/task:{}/device:{}:{}", device.job, device.replica,
                     device.task, device.type, device.index);
}

bool same_devices(std::span<const Device> left, std::span<const Device> right) {
  return std::set<Device>(left.begin(), left.end()) == std::set<Device>(right.begin(), right.end());
}

}  // namespace fanin
