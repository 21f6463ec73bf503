// The one place that reads the environment.

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "core/require.h"
#include "fanin/join.h"

namespace fanin {
namespace {

std::string_view read_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

int read_count(const char* name) {
  const std::string_view text = read_variable(name);
  require(!text.empty(), ErrorKind::kBadOption,
          "FANIN_RENDEZVOUS is set but {} is not; set it, or start the ranks by \"fanin launch\"",
          name);
  int number = 0;
  require(parse(text, number) && number >= 0, ErrorKind::kBadOption,
          "{} is \"{}\", which is no count", name, text);
  return number;
}

}  // namespace

JoinOptions JoinOptions::from_environment() {
  JoinOptions options;
  options.rendezvous = read_variable("FANIN_RENDEZVOUS");
  if (!options.rendezvous.empty()) {
    options.rank = read_count("FANIN_RANK");
    options.world_size = read_count("FANIN_WORLD_SIZE");
    require(options.rank < options.world_size, ErrorKind::kBadOption,
            "FANIN_RANK is {} but FANIN_WORLD_SIZE is {}; ranks count from 0", options.rank,
            options.world_size);
  }
  if (const std::string_view text = read_variable("FANIN_TIMEOUT_SECONDS"); !text.empty()) {
    double seconds = 0;
    require(parse(text, seconds) && std::isfinite(seconds) && seconds > 0, ErrorKind::kBadOption,
            "FANIN_TIMEOUT_SECONDS is \"{}\", which is no number of seconds above 0", text);
    options.timeout = std::chrono::duration<double>(seconds);
  }
  return options;
}

}  // namespace fanin
