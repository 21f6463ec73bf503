#include "core/clock_offset.h"

#include <algorithm>

#include "core/require.h"

namespace fanin {

std::chrono::nanoseconds estimate_offset(std::span<const ClockSample> samples) {
  require(!samples.empty(), ErrorKind::kEmpty,
          "clocks cannot be compared without samples; ask the other process at least once");
  for (const ClockSample& sample : samples)
    require(sample.received >= sample.sent, ErrorKind::kBadOption,
            "a clock sample was received {} ns before it was sent; take both times from one clock",
            std::chrono::nanoseconds(sample.sent - sample.received).count());
  const ClockSample& best = *std::ranges::min_element(
      samples, {}, [](const ClockSample& sample) { return sample.received - sample.sent; });
  return best.theirs - (best.sent + (best.received - best.sent) / 2);
}

}  // namespace fanin
