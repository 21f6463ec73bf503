// The picture of a schedule. A step is a box in the row of its target and the column of its round,
// with lines from what its sources held before the round.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/text.h"
#include "fanin/schedule.h"
#include "fanin/schedule_cost.h"
#include "schedule/picture_style.h"

namespace fanin {
namespace {

// In units of the picture, which scales to where it is shown.
constexpr double kLabelWidth = 84;
constexpr double kColumn = 148;  // or wider, where there are few
constexpr double kMostColumn = 280;
constexpr double kGoodWidth = 1000;
constexpr double kBoxWidth = 52;
constexpr double kBoxRight = 18;  // from the end of the column
constexpr double kBoxPitch = 19;  // of boxes that stand in one cell of the picture
constexpr double kRow = 40;
constexpr double kTop = 92;
constexpr double kLegend = 100;
constexpr double kGap = 12;  // between the boxes of one row and the next
constexpr double kLeastWidth = 640;
// What does not fit into a cell is drawn closer together, without its text.
constexpr double kMostRow = 8 * kBoxPitch;
constexpr double kLeastPitchOfText = 14;
constexpr std::size_t kMostLetters = 7;

// More than these nobody can read, and no viewer shows in time.
constexpr int kMostPlacesDrawn = 64;
constexpr std::size_t kMostRounds = 64;
constexpr std::size_t kMostLines = 10'000;

/// Names come from files: what XML cannot hold becomes a question mark.
std::string printable(std::string_view text) {
  std::string result(text);
  for (char& letter : result)
    if (letter < ' ' || letter > '~') letter = '?';
  return escape_html(result);
}

std::string count(std::int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

const char* colour_of(int chunk) {
  return kChunkColours[static_cast<unsigned>(chunk) % kChunkColours.size()];
}

/// "3", or "0-3" for more than one, and a plus before a sum.
std::string name_of(const Step& step) {
  const auto& [first, last] = step.chunks;
  return (step.sources.size() > 1 ? "+ " : "") +
         (last - first == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, last - 1));
}

std::string text_at(std::string_view style, double x, double y, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{:.6g}\" y=\"{:.6g}\">{}</text>\n", style, x, y, text);
}

/// The box of a step, with an arrow head before it where lines come in, and its name if there is
/// room.
std::string box(double left, double middle, double pitch, const Step& step) {
  const double height = std::max(1.0, pitch - 3);
  const char* colour = colour_of(step.chunks.first);
  std::string result = fmt::format(
      "<path d=\"M{0:.6g},{1:.6g}l-7,-3.5v7z\" fill=\"{2}\"/>"
      "<rect class=\"box\" x=\"{0:.6g}\" y=\"{3:.6g}\" width=\"{4}\" height=\"{5:.6g}\" rx=\"4\" "
      "stroke=\"{2}\"{6}/>",
      left, middle, colour, middle - height / 2, kBoxWidth, height,
      step.sources.size() > 1 ? fmt::format(" fill=\"{}\"", colour) : "");
  if (const std::string name = name_of(step);
      pitch >= kLeastPitchOfText && name.size() <= kMostLetters)
    result += fmt::format("<text class=\"name\" x=\"{:.6g}\" y=\"{:.6g}\">{}</text>",
                          left + kBoxWidth / 2, middle + 4, name);
  return result;
}

/// Draws the part of a schedule that can be read.
class Picture {
 public:
  explicit Picture(const Schedule& schedule)
      : schedule_(schedule),
        place_count_(std::clamp(schedule.place_count(), 0, kMostPlacesDrawn)),
        round_count_(std::min(schedule.rounds.size(), kMostRounds)) {
    std::vector<int> most(static_cast<std::size_t>(place_count_), 1);
    for (std::size_t round = 0; round < round_count_; ++round)
      for (const Step& step : schedule.rounds[round])
        if (is_drawn(step))
          most[at(step.to)] = std::max(most[at(step.to)], ++boxes_[{round, step.to}]);
    tops_.push_back(kTop);
    for (const int boxes : most)
      tops_.push_back(tops_.back() + std::clamp(boxes * kBoxPitch + kGap, kRow, kMostRow));
    if (round_count_ > 0)
      column_ = std::clamp((kGoodWidth - kLabelWidth) / static_cast<double>(round_count_), kColumn,
                           kMostColumn);
    width_ = std::max(kLeastWidth, column(round_count_) + 12);
  }

  std::string draw() {
    std::string steps;
    for (std::size_t round = 0; round < round_count_; ++round) steps += draw_round(round);
    const double height = tops_.back() + kLegend;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fanin-schedule\" "
               "viewBox=\"0 0 {0:.6g} {1:.6g}\" width=\"{0:.6g}\" height=\"{1:.6g}\" "
               "role=\"img\">\n<title>{2}</title>\n{3}<rect class=\"paper\" "
               "width=\"{0:.6g}\" height=\"{1:.6g}\"/>\n",
               width_, height, headline(), kPictureStyle) +
           draw_head() + draw_table() + steps + draw_legend() + "</svg>\n";
  }

 private:
  static std::size_t at(int place) { return static_cast<std::size_t>(place); }
  double column(std::size_t round) const {
    return kLabelWidth + column_ * static_cast<double>(round);
  }
  bool is_row(int place) const { return place >= 0 && place < place_count_; }
  double middle(int place) const { return (tops_[at(place)] + tops_[at(place) + 1]) / 2; }

  /// A step that reads from or writes to a place that has no row is left out.
  bool is_drawn(const Step& step) const {
    return is_row(step.to) &&
           std::ranges::all_of(step.sources, [&](int source) { return is_row(source); });
  }

  std::string headline() const {
    std::string text = fmt::format("{}: {} of {}", printable(schedule_.name), name(schedule_.goal),
                                   count(schedule_.rank_count, "rank"));
    if (schedule_.helper_count > 0) text += ", " + count(schedule_.helper_count, "helper");
    if (schedule_.root) text += fmt::format(", root {}", *schedule_.root);
    return text + fmt::format("; the data in {}", count(schedule_.chunk_count, "chunk"));
  }

  std::string draw_head() const {
    const ScheduleCost cost = cost_of(schedule_);
    return text_at("title", 12, 28, headline()) +
           text_at("soft", 12, 50,
                   fmt::format("{}, {}; the busiest place sends {:.4g} times the data",
                               count(cost.round_count, "round"),
                               count(cost.message_count, "message"), cost.share(cost.most_sent)));
  }

  /// Bands for rounds, lines for places.
  std::string draw_table() const {
    std::string result;
    for (std::size_t round = 0; round < round_count_; ++round) {
      if (round % 2 == 0)
        result += fmt::format(
            "<rect class=\"band\" x=\"{:.6g}\" y=\"{}\" width=\"{:.6g}\" height=\"{:.6g}\"/>\n",
            column(round), kTop - 26, column_, tops_.back() - kTop + 32);
      result += text_at("soft", column(round) + 12, kTop - 10, fmt::format("round {}", round));
    }
    for (int place = 0; place < place_count_; ++place) {
      const double y = middle(place);
      const bool is_rank = place < schedule_.rank_count;
      result += text_at("ink", 12, y + 4,
                        fmt::format("{} {}", is_rank ? "rank" : "helper",
                                    is_rank ? place : place - schedule_.rank_count));
      result += fmt::format(
          "<line class=\"place\" x1=\"{0}\" y1=\"{1:.6g}\" x2=\"{2:.6g}\" y2=\"{1:.6g}\"/>\n",
          kLabelWidth - 8, y, column(round_count_));
    }
    return result;
  }

  std::string draw_round(std::size_t round) {
    std::string result;
    const double left = column(round) + 12;
    for (int place = 0; place < place_count_; ++place)
      result += fmt::format("<circle class=\"dot\" cx=\"{:.6g}\" cy=\"{:.6g}\" r=\"3\"/>", left,
                            middle(place));
    std::map<int, int> drawn;  // boxes in each row so far
    for (const Step& step : schedule_.rounds[round]) {
      if (!is_drawn(step) || line_count_ + step.sources.size() > kMostLines) continue;
      line_count_ += step.sources.size();
      ++step_count_;
      const int boxes = boxes_.at({round, step.to});
      const double room = tops_[at(step.to) + 1] - tops_[at(step.to)] - kGap;
      const double pitch = std::min(kBoxPitch, room / boxes);
      const double y =
          middle(step.to) + pitch * (drawn[step.to]++ - (static_cast<double>(boxes) - 1) / 2);
      result += draw_step(step, left, column(round + 1) - kBoxRight - kBoxWidth, y, pitch);
    }
    return result + "\n";
  }

  std::string draw_step(const Step& step, double from, double to, double y, double pitch) const {
    std::string sources;
    std::string lines;
    for (const int source : step.sources) {
      sources += fmt::format("{}{}", sources.empty() ? "" : " + ", source);
      const double bend = (to - from) * 0.45;
      lines +=
          fmt::format("M{:.6g},{:.6g}C{:.6g},{:.6g} {:.6g},{:.6g} {:.6g},{:.6g}", from,
                      middle(source), from + bend, middle(source), to - 6 - bend, y, to - 6, y);
    }
    return fmt::format(
        "<g class=\"{}\"><title>{} [{},{}) = {}</title><path class=\"way\" stroke=\"{}\" "
        "d=\"{}\"/>{}</g>",
        step.sources.size() > 1 ? "sum" : "copy", step.to, step.chunks.first, step.chunks.last,
        sources, colour_of(step.chunks.first), lines, box(to, y, pitch, step));
  }

  std::string draw_legend() const {
    const double y = tops_.back() + 34;
    std::string result = "<g class=\"sum\">" + box(20, y - 4, kBoxPitch, {0, {0, 1}, {0, 1}}) +
                         "</g>" +
                         text_at("soft", 80, y, "chunk 0 becomes the sum of what the lines bring") +
                         "<g class=\"copy\">" + box(400, y - 4, kBoxPitch, {0, {1, 3}, {0}}) +
                         "</g>" + text_at("soft", 460, y, "chunks 1 and 2 are copied");
    result += text_at("soft", 12, y + 24,
                      "A line starts at what its place held before the round. The colour is that "
                      "of the first chunk.");
    std::size_t steps = 0;
    for (const Round& round : schedule_.rounds) steps += round.size();
    if (steps == 0) result += text_at("ink", 12, y + 48, "There is nothing to do.");
    if (step_count_ < steps)
      result += text_at(
          "ink", 12, y + 48,
          fmt::format(
              "Too large to be drawn whole: {} of {} are shown, of {} rounds and {} places.",
              step_count_, count(static_cast<std::int64_t>(steps), "step"), schedule_.rounds.size(),
              schedule_.place_count()));
    return result;
  }

  const Schedule& schedule_;
  int place_count_;
  std::size_t round_count_;
  std::map<std::pair<std::size_t, int>, int> boxes_;  // of each round and place
  std::vector<double> tops_;                          // of each row, and where the last one ends
  double column_ = kColumn;
  double width_ = 0;
  std::size_t line_count_ = 0;
  std::size_t step_count_ = 0;
};

}  // namespace

std::string to_svg(const Schedule& schedule) { return Picture(schedule).draw(); }

}  // namespace fanin
