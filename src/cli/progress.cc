#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/units.h"

namespace fanin::cli {
namespace {

using std::chrono::milliseconds;

constexpr auto kBeforeFirst = milliseconds(150);  // what is over by then needs no bar
constexpr auto kBetween = milliseconds(60);
constexpr std::size_t kWidth = 30;
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

Progress::Progress(std::size_t total, bool is_wanted, Unit unit)
    : total_(total),
      is_shown_(is_wanted && ::isatty(STDERR_FILENO) != 0),
      unit_(unit),
      next_draw_(begin_ + kBeforeFirst) {}

Progress::~Progress() {
  if (has_drawn_) std::fputs(kEraseLine, stderr);
}

void Progress::start(std::string what) {
  what_ = std::move(what);
  add(0);
}

void Progress::add(std::size_t amount) {
  done_ += amount;
  if (!is_shown_) return;
  if (const auto now = Clock::now(); now >= next_draw_) draw(now);
}

void Progress::draw(Clock::time_point now) {
  next_draw_ = now + kBetween;
  has_drawn_ = true;
  const double part =
      total_ == 0 ? 1.0 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const auto filled = static_cast<std::size_t>(part * kWidth);
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const auto per_second = static_cast<std::size_t>(static_cast<double>(done_) / seconds);
  const std::string speed = unit_ == Unit::kBytes ? bytes_text(per_second) + "/s  " : "";
  fmt::print(stderr, "{}[{:#>{}}{:.>{}}] {:3.0f}%  {}{}", kEraseLine, "", filled, "",
             kWidth - filled, part * 100, speed, what_);
  std::fflush(stderr);
}

}  // namespace fanin::cli
