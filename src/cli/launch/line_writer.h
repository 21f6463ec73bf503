#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

namespace fanin::cli {

/// Passes on what one rank prints, in whole lines, each with the rank in front, so that the lines
/// of several ranks can be told apart and do not mix.
class LineWriter {
 public:
  LineWriter(int fd, std::string prefix) : fd_(fd), prefix_(std::move(prefix)) {}

  void add(std::string_view text) {
    std::string lines;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;
         text.remove_prefix(end + 1)) {
      lines += prefix_ + rest_;
      lines += text.substr(0, end + 1);
      rest_.clear();
    }
    rest_ += text;
    write(lines);
    // Whoever prints no newline must not fill our memory.
    constexpr std::size_t kLongestLine = std::size_t{1} << 20;
    if (rest_.size() > kLongestLine) finish();
  }

  /// Ends a last line that has no end.
  void finish() {
    if (!rest_.empty()) write(prefix_ + std::exchange(rest_, {}) + "\n");
  }

 private:
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written < 0 && errno != EINTR) return;
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  int fd_;
  std::string prefix_;
  std::string rest_;
};

}  // namespace fanin::cli
