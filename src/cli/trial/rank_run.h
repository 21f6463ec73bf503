#pragma once

#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "core/file_descriptor.h"

namespace fanin::cli {

/// A process that runs one rank of a trial and reports by JSON. What it throws is a report as well.
/// It is killed when the object goes.
class RankRun {
 public:
  explicit RankRun(const std::function<nlohmann::json()>& work);
  RankRun(RankRun&& other) noexcept;
  RankRun& operator=(RankRun&&) = delete;
  ~RankRun();

  pid_t pid() const { return pid_; }

  /// Reads what there is, without waiting. Whether the process has ended.
  bool poll();

  /// Whether a signal has stopped it.
  bool is_stopped() const;

  void signal(int number) const;

  /// After its end: what it reported, or {"signal": number}.
  nlohmann::json report() const;

  /// On the clock of std::chrono::steady_clock, when poll() first saw that it had ended.
  double end_seconds() const { return end_seconds_; }

 private:
  pid_t pid_ = -1;
  FileDescriptor read_end_;
  std::string text_;
  bool has_ended_ = false;
  int status_ = 0;
  double end_seconds_ = 0;
};

/// Seconds of std::chrono::steady_clock, the same for all processes.
double steady_seconds();

}  // namespace fanin::cli
