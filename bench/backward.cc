#include "backward.h"

#include <sys/prctl.h>
#include <time.h>

#include <stdexcept>

#include "sweeps.h"
#include "timing.h"

namespace bench {
namespace {

constexpr std::size_t kNumbers = (std::size_t{256} << 10) / sizeof(float);
constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

std::int64_t now_nanoseconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNanosecondsPerSecond + now.tv_nsec;
}

}  // namespace

void WaitingBackward::begin() {
  ::prctl(PR_SET_TIMERSLACK, 1);  // of this thread; as it is, sleepers wake 50 us late
  begin_ = now_nanoseconds();
}

void WaitingBackward::go_on_until(double share) {
  const std::int64_t until = begin_ + static_cast<std::int64_t>(seconds_ * share * 1e9);
  if (until <= now_nanoseconds()) return;  // to sleep until a time that is past takes microseconds
  const timespec time = {.tv_sec = until / kNanosecondsPerSecond,
                         .tv_nsec = until % kNanosecondsPerSecond};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) continue;
}

ComputingBackward::ComputingBackward(std::uint64_t sweep_count)
    : sweep_count_(sweep_count), numbers_(kNumbers) {}

void ComputingBackward::go_on_until(double share) {
  const auto until = static_cast<std::uint64_t>(static_cast<double>(sweep_count_) * share);
  bench_sweep(numbers_.data(), numbers_.size(), until - done_);
  done_ = until;
}

std::unique_ptr<Backward> make_backward(const std::string& kind, double amount) {
  if (kind == "waits") return std::make_unique<WaitingBackward>(amount);
  if (kind == "computes")
    return std::make_unique<ComputingBackward>(static_cast<std::uint64_t>(amount));
  throw std::invalid_argument("a backward pass waits or computes; \"" + kind + "\" is unknown");
}

double sweeps_in(double seconds) {
  constexpr std::uint64_t kSweeps = 100;
  std::vector<float> numbers(kNumbers);
  const double one = time_call(0.2, [&] { bench_sweep(numbers.data(), kNumbers, kSweeps); });
  return seconds / one * kSweeps;
}

}  // namespace bench
