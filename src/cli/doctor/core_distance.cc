#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "cli/doctor/cores.h"
#include "cli/doctor/findings.h"
#include "core/pause.h"

namespace fanin::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Below this, cores share a cache, and plain stores into a peer's memory are the fastest.
constexpr double kNearSeconds = 140e-9;
constexpr auto kPatience = std::chrono::milliseconds(500);
constexpr int kBatchCount = 100;
constexpr std::uint32_t kTripsInBatch = 100;
constexpr std::uint32_t kStop = UINT32_MAX;

bool pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set) == 0;
}

/// A line that two threads throw to and fro: odd numbers one way, even ones back.
class Ball {
 public:
  explicit Ball(Clock::time_point deadline) : deadline_(deadline) {}

  void throw_number(std::uint32_t number) { number_.store(number, std::memory_order_release); }

  /// False: the other one did not throw it in time, or has stopped.
  bool await(std::uint32_t number) {
    for (std::uint32_t looks = 1;; ++looks) {
      const std::uint32_t seen = number_.load(std::memory_order_acquire);
      if (seen == number) return true;
      if (seen == kStop) return false;
      if (looks % 4096 == 0) {
        // Who shares a core with the other one must let it run.
        std::this_thread::yield();
        if (Clock::now() > deadline_) return false;
      }
      pause_core();
    }
  }

 private:
  alignas(128) std::atomic<std::uint32_t> number_{0};
  alignas(128) const Clock::time_point deadline_;
};

/// Half of the median time of a trip there and back; nothing if the cores could not be had.
std::optional<double> measure_one_way_seconds(int here, int there) {
  Ball ball(Clock::now() + kPatience);
  std::vector<double> trips;
  std::jthread other([&] {
    if (!pin_to(there)) return;
    for (std::uint32_t number = 1; ball.await(number); number += 2) ball.throw_number(number + 1);
  });
  std::jthread self([&] {
    std::uint32_t number = 1;
    const auto run_batch = [&] {
      for (std::uint32_t trip = 0; trip < kTripsInBatch; ++trip, number += 2) {
        ball.throw_number(number);
        if (!ball.await(number + 1)) return false;
      }
      return true;
    };
    bool is_going = pin_to(here);
    for (int batch = 0; is_going && batch < kBatchCount; ++batch) {
      const auto begin = Clock::now();
      is_going = run_batch();
      if (is_going)
        trips.push_back(std::chrono::duration<double>(Clock::now() - begin).count() /
                        kTripsInBatch);
    }
    ball.throw_number(kStop);
  });
  self.join();
  other.join();
  if (trips.empty()) return std::nullopt;
  std::ranges::nth_element(trips, trips.begin() + static_cast<std::ptrdiff_t>(trips.size() / 2));
  return trips[trips.size() / 2] / 2;
}

Finding describe(int here, int there) {
  const std::string name = fmt::format("cores {} to {}", here, there);
  const auto seconds = measure_one_way_seconds(here, there);
  if (!seconds)
    return {.name = name,
            .value = "not measured, the cores are not free",
            .advice = "try again when the machine is idle"};
  const bool is_near = *seconds < kNearSeconds;
  return {.name = name,
          .value = fmt::format("{}: a cache line takes {:.0f} ns (the border is {:.0f} ns)",
                               is_near ? "near" : "far", *seconds * 1e9, kNearSeconds * 1e9)};
}

}  // namespace

std::vector<Finding> examine_distances() {
  const std::vector<int> cores = usable_cores();
  if (cores.size() < 2)
    return {{.name = "distance of cores", .value = "not measured, there is only one core"}};
  std::vector<Finding> findings = {describe(cores[0], cores[1])};
  if (cores.size() > 2) findings.push_back(describe(cores.front(), cores.back()));
  return findings;
}

}  // namespace fanin::cli
