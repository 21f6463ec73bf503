// The text form of a schedule, both ways, and the JSON form.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/require.h"
#include "fanin/schedule.h"
#include "schedule/goal.h"

namespace fanin {
namespace {

// So that a damaged file cannot ask for more memory than there is.
constexpr int kMostPlaces = 1 << 16;
constexpr int kMostChunks = 1 << 20;

/// Reads one line from left to right.
class Line {
 public:
  Line(std::string_view text, int number) : rest_(text), number_(number) {}

  void skip_spaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  bool try_take(std::string_view wanted) {
    skip_spaces();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }

  void take(std::string_view wanted) {
    check(try_take(wanted), fmt::format("expected \"{}\"", wanted));
  }

  std::string_view take_word() {
    skip_spaces();
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    check(!word.empty(), "expected a word");
    rest_.remove_prefix(word.size());
    return word;
  }

  int take_number(int least, int most) {
    skip_spaces();
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    check(error == std::errc() && value >= least && value <= most,
          fmt::format("expected a whole number from {} to {}", least, most));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  void end() {
    skip_spaces();
    check(rest_.empty(), "expected the end of the line");
  }

  bool is_empty() {
    skip_spaces();
    return rest_.empty();
  }

  void check(bool good, std::string_view expected) const {
    if (good) return;
    throw InvalidArgument(
        ErrorKind::kBadSchedule,
        fmt::format("line {} of the schedule: {}, found \"{}\"", number_, expected, rest_));
  }

 private:
  std::string_view rest_;
  int number_;
};

Schedule parse_head(Line& line) {
  Schedule schedule;
  line.take("schedule ");
  schedule.name = line.take_word();
  line.take("goal=");
  schedule.goal = parse_goal(line.take_word());
  if (line.try_take("root=")) schedule.root = line.take_number(0, kMostPlaces);
  line.take("ranks=");
  schedule.rank_count = line.take_number(1, kMostPlaces);
  line.take("helpers=");
  schedule.helper_count = line.take_number(0, kMostPlaces);
  line.take("chunks=");
  schedule.chunk_count = line.take_number(1, kMostChunks);
  line.end();
  return schedule;
}

Step parse_step(Line& line) {
  Step step;
  step.to = line.take_number(0, 2 * kMostPlaces);
  line.take("[");
  step.chunks.first = line.take_number(0, kMostChunks);
  line.take(",");
  step.chunks.last = line.take_number(0, kMostChunks);
  line.take(")");
  line.take("=");
  do {
    step.sources.push_back(line.take_number(0, 2 * kMostPlaces));
  } while (line.try_take("+"));
  line.end();
  return step;
}

}  // namespace

std::string to_text(const Schedule& schedule) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "schedule {} goal={}", schedule.name, name(schedule.goal));
  if (schedule.root) fmt::format_to(out, " root={}", *schedule.root);
  fmt::format_to(out, " ranks={} helpers={} chunks={}\n", schedule.rank_count,
                 schedule.helper_count, schedule.chunk_count);
  for (const Round& round : schedule.rounds) {
    fmt::format_to(out, "round\n");
    for (const Step& step : round)
      fmt::format_to(out, "{} [{},{}) = {}\n", step.to, step.chunks.first, step.chunks.last,
                     fmt::join(step.sources, " + "));
  }
  return fmt::to_string(text);
}

Schedule parse_schedule(std::string_view text) {
  std::optional<Schedule> schedule;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Line line(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.is_empty()) continue;
    if (!schedule) {
      schedule = parse_head(line);
    } else if (line.try_take("round")) {
      line.end();
      schedule->rounds.emplace_back();
    } else {
      line.check(!schedule->rounds.empty(), "expected \"round\" before the first step");
      schedule->rounds.back().push_back(parse_step(line));
    }
  }
  require(schedule.has_value(), ErrorKind::kBadSchedule,
          "the schedule is empty; its first line is for example \"schedule direct goal=all_reduce "
          "ranks=2 helpers=0 chunks=2\"");
  return *std::move(schedule);
}

std::string to_json(const Schedule& schedule) {
  nlohmann::ordered_json json = {{"name", schedule.name}, {"goal", name(schedule.goal)}};
  if (schedule.root) json["root"] = *schedule.root;
  json["ranks"] = schedule.rank_count;
  json["helpers"] = schedule.helper_count;
  json["chunks"] = schedule.chunk_count;
  json["rounds"] = nlohmann::ordered_json::array();
  for (const Round& round : schedule.rounds) {
    auto steps = nlohmann::ordered_json::array();
    for (const Step& step : round)
      steps.push_back({{"to", step.to},
                       {"chunks", {step.chunks.first, step.chunks.last}},
                       {"sources", step.sources}});
    json["rounds"].push_back(std::move(steps));
  }
  return json.dump();
}

}  // namespace fanin
