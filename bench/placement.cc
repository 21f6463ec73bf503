// Says how far two cores are from each other. Reads lines "HERE THERE" and answers each with a line
// of JSON: the nanoseconds that a cache line takes one way, or null if the cores were not free.
// A virtual machine's cores move from one place of the host to another, so that programs that talk
// through memory are fast in one minute and slow in the next.

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <iostream>
#include <thread>
#include <vector>

#include "run_server.h"
#include "timing.h"

namespace bench {
namespace {

constexpr double kProbeSeconds = 20e-3;
constexpr double kPatienceSeconds = 0.5;
constexpr std::uint64_t kTripsInBatch = 100;

/// A line that travels between two cores: odd numbers there, even ones back.
struct Shuttle {
  alignas(128) std::atomic<std::uint64_t> number{0};
  alignas(128) std::atomic<bool> stop{false};

  bool await(std::uint64_t wanted) const {
    while (number.load(std::memory_order_acquire) != wanted)
      if (stop.load(std::memory_order_relaxed)) return false;
    return true;
  }
};

void stay_on(std::size_t core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

void send_back(Shuttle& shuttle, std::size_t core) {
  stay_on(core);
  for (std::uint64_t number = 1; shuttle.await(number); number += 2)
    shuttle.number.store(number + 1, std::memory_order_release);
}

/// The seconds of each batch's trips, there and back.
std::vector<double> time_batches(Shuttle& shuttle) {
  std::vector<double> batches;
  std::uint64_t number = 1;
  const double start = now_seconds();
  for (double begin = start; begin - start < kProbeSeconds;) {
    for (std::uint64_t trip = 0; trip < kTripsInBatch; ++trip, number += 2) {
      shuttle.number.store(number, std::memory_order_release);
      if (!shuttle.await(number + 1)) return batches;
    }
    const double end = now_seconds();
    batches.push_back(end - begin);
    begin = end;
  }
  return batches;
}

std::vector<double> probe(std::size_t here, std::size_t there) {
  Shuttle shuttle;
  std::vector<double> batches;
  std::atomic<bool> is_done{false};
  std::thread echo([&] { send_back(shuttle, there); });
  std::thread thrower([&] {
    stay_on(here);
    batches = time_batches(shuttle);
    is_done = true;
  });
  for (const double begin = now_seconds(); !is_done && now_seconds() - begin < kPatienceSeconds;)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  shuttle.stop = true;
  thrower.join();
  echo.join();
  return batches;
}

void serve() {
  std::size_t here = 0;
  std::size_t there = 0;
  while (std::cin >> here >> there) {
    const std::vector<double> batches = probe(here, there);
    if (batches.empty())
      std::cout << "{\"nanoseconds\": null}" << std::endl;
    else
      std::cout << "{\"nanoseconds\": "
                << median(batches) / static_cast<double>(2 * kTripsInBatch) * 1e9 << "}"
                << std::endl;
  }
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_placement", bench::serve); }
