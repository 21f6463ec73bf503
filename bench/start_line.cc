#include "start_line.h"

#include <immintrin.h>
#include <sched.h>

namespace bench {

extern "C" void bench_wait_at_start(void* line, std::uint64_t round, int rank, int size,
                                    int share_cores) {
  auto* const places = static_cast<StartLine*>(line)->places;
  // With a core for each rank, only one that has waited for long may be late by a system call.
  const int patience = share_cores != 0 ? 50 : 100'000;
  places[rank].round.store(round, std::memory_order_release);
  for (int other = 0; other < size; ++other)
    for (int looks = 0; places[other].round.load(std::memory_order_acquire) < round; ++looks)
      if (looks < patience)
        _mm_pause();
      else
        ::sched_yield();
}

}  // namespace bench
