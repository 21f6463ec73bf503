#include "transports/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace fanin {

std::string describe_missing(HostMemory& memory) {
  std::vector<std::string> missing;
  for (int rank = 0; rank < memory.size(); ++rank)
    if (memory.process(rank).pid.load(std::memory_order_acquire) == 0)
      missing.push_back(std::to_string(rank));
  if (missing.empty()) return {};
  const std::size_t count = missing.size();
  constexpr std::size_t kMostNamed = 16;
  if (count > kMostNamed) {
    missing.resize(kMostNamed);
    missing.push_back(fmt::format("{} more", count - kMostNamed));
  }
  std::string last;
  if (missing.size() > 1) {
    last = " and " + missing.back();
    missing.pop_back();
  }
  return fmt::format("rank{} {}{} of {} {} not come", count == 1 ? "" : "s",
                     fmt::join(missing, ", "), last, memory.size(), count == 1 ? "has" : "have");
}

std::string seconds_since(Deadline start) {
  return fmt::format("{:.3g} s", std::chrono::duration<double>(Clock::now() - start).count());
}

int poll_milliseconds(Deadline deadline, std::chrono::milliseconds limit) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      std::min<Clock::duration>(deadline - Clock::now(), limit));
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

}  // namespace fanin
