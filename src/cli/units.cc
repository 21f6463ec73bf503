#include "cli/units.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "core/require.h"
#include "core/text.h"

namespace fanin::cli {

std::size_t parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit =
      to_upper({end, static_cast<std::size_t>(text.data() + text.size() - end)});
  const std::size_t power = std::string_view(" KMGT").find(unit.empty() ? " " : unit);
  const bool is_number = error == std::errc() && number >= 0 && unit.size() <= 1 && power <= 4;
  const double bytes = is_number ? std::ldexp(number, static_cast<int>(power) * 10) : -1;
  require(bytes >= 0 && bytes < 0x1p63, ErrorKind::kBadOption,
          "\"{}\" is not a size; use a number of bytes, or one with K, M, G or T such as 1.5G",
          text);
  return static_cast<std::size_t>(bytes);
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace fanin::cli
