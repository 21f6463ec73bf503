// The machine's limit: sums by loops that know this machine (compiled for it) and assume what the
// library may not: aligned buffers, whole lines, plain left folds of a known type.

#include "limit.h"

#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <thread>

#include "formats.h"
#include "timing.h"

namespace bench {
namespace {

constexpr std::size_t kMostSources = 64;

/// All sources at once, in registers, a line a turn. The counts are constants where they are not 0.
template <class Format, bool kStream, std::size_t kSources = 0, std::size_t kTargets = 1>
[[gnu::noinline]] void sum_lines(const Sum& sum, std::size_t begin, std::size_t end) {
  constexpr std::size_t kStep = Format::kVectorBytes;
  constexpr std::size_t kVectors = 64 / kStep;
  const std::size_t source_count = kSources == 0 ? sum.sources.size() : kSources;
  const std::size_t target_count = kTargets == 0 ? sum.targets.size() : kTargets;
  std::array<const std::byte*, kMostSources> sources{};
  std::array<std::byte*, kMostSources> targets{};
  std::copy(sum.sources.begin(), sum.sources.end(), sources.begin());
  std::copy(sum.targets.begin(), sum.targets.end(), targets.begin());
  for (std::size_t i = begin; i < end; i += 64) {
    typename Format::Vector value[kVectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) value[v] = Format::load(sources[0] + i + v * kStep);
    for (std::size_t s = 1; s < source_count; ++s) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; ++v)
        value[v] = Format::add(value[v], Format::load(sources[s] + i + v * kStep));
    }
    for (std::size_t t = 0; t < target_count; ++t) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; ++v)
        Format::template store<kStream>(targets[t] + i + v * kStep, value[v]);
    }
  }
  if constexpr (kStream) _mm_sfence();
}

/// Four sources at a time into a block in the L1 cache.
template <class Format, bool kStream>
[[gnu::noinline]] void sum_blocks(const Sum& sum, std::size_t begin, std::size_t end) {
  constexpr std::size_t kStep = Format::kVectorBytes;
  constexpr std::size_t kBlockVectors = 128;
  typename Format::Vector partial[kBlockVectors];
  const std::size_t source_count = sum.sources.size();
  for (std::size_t block = begin; block < end; block += kBlockVectors * kStep) {
    const std::size_t length = std::min(kBlockVectors * kStep, end - block);
    for (std::size_t s = 0; s < source_count; s += 4) {
      const std::byte* four[4];
      const std::size_t here = std::min<std::size_t>(4, source_count - s);
      for (std::size_t j = 0; j < 4; ++j) four[j] = sum.sources[s + std::min(j, here - 1)] + block;
      const bool is_last = s + 4 >= source_count;
      for (std::size_t i = 0; i < length; i += kStep) {
        typename Format::Vector value = Format::load(four[0] + i);
        if (here > 1) value = Format::add(value, Format::load(four[1] + i));
        if (here > 2) value = Format::add(value, Format::load(four[2] + i));
        if (here > 3) value = Format::add(value, Format::load(four[3] + i));
        if (s > 0) value = Format::add(partial[i / kStep], value);
        if (is_last)
          for (std::byte* const target : sum.targets)
            Format::template store<kStream>(target + block + i, value);
        else
          partial[i / kStep] = value;
      }
    }
  }
  if constexpr (kStream) _mm_sfence();
}

using Range = void (*)(const Sum& sum, std::size_t begin, std::size_t end);

/// Loops whose counts are constants, for the counts that are measured most.
template <bool kStream>
Range range_to_all(const Sum& sum) {
  const std::size_t sources = sum.sources.size();
  const std::size_t targets = sum.targets.size();
  if (sources == 2 && targets == 2) return sum_lines<Float32, kStream, 2, 2>;
  if (sources == 4 && targets == 4) return sum_lines<Float32, kStream, 4, 4>;
  if (sources == 8 && targets == 8) return sum_lines<Float32, kStream, 8, 8>;
  return sum_lines<Float32, kStream, 0, 0>;
}

template <bool kStream, bool kBlocks>
Range range_for(const Sum& sum) {
  if (sum.targets.size() > 1 && !kBlocks) return range_to_all<kStream>(sum);
  switch (sum.type) {
    case Type::kFloat16:
      return kBlocks ? sum_blocks<Float16, kStream> : sum_lines<Float16, kStream>;
    case Type::kBFloat16:
      return kBlocks ? sum_blocks<BFloat16, kStream> : sum_lines<BFloat16, kStream>;
    case Type::kFloat64:
      return kBlocks ? sum_blocks<Float64, kStream> : sum_lines<Float64, kStream>;
    default:
      return kBlocks ? sum_blocks<Float32, kStream> : sum_lines<Float32, kStream>;
  }
}

/// What the second thread is to do; it spins for it.
struct Helper {
  alignas(128) std::atomic<int> asked{0};
  alignas(128) std::atomic<int> done{0};
  std::atomic<bool> stop{false};
  Range range = nullptr;
  const Sum* sum = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::thread thread;
  cpu_set_t callers_cores{};

  void work() {
    for (int seen = 0; !stop.load(std::memory_order_relaxed);) {
      if (asked.load(std::memory_order_acquire) == seen) {
        _mm_pause();
        continue;
      }
      range(*sum, begin, end);
      done.store(++seen, std::memory_order_release);
    }
  }
};

Helper* helper = nullptr;

template <bool kStream, bool kBlocks>
void run_one(const Sum& sum) {
  range_for<kStream, kBlocks>(sum)(sum, 0, sum.bytes);
}

template <bool kStream, bool kBlocks>
void run_two(const Sum& sum) {
  const Range range = range_for<kStream, kBlocks>(sum);
  const std::size_t middle = sum.bytes / 2 / 4096 * 4096;
  helper->range = range;
  helper->sum = &sum;
  helper->begin = middle;
  helper->end = sum.bytes;
  const int job = helper->asked.load(std::memory_order_relaxed) + 1;
  helper->asked.store(job, std::memory_order_release);
  range(sum, 0, middle);
  while (helper->done.load(std::memory_order_acquire) != job) _mm_pause();
}

const std::array<Way, 8> kWays = {{{"one thread", run_one<false, false>},
                                   {"one thread, streaming", run_one<true, false>},
                                   {"one thread, blocks", run_one<false, true>},
                                   {"one thread, blocks, streaming", run_one<true, true>},
                                   {"two threads", run_two<false, false>},
                                   {"two threads, streaming", run_two<true, false>},
                                   {"two threads, blocks", run_two<false, true>},
                                   {"two threads, blocks, streaming", run_two<true, true>}}};

}  // namespace

std::span<const Way> ways() { return kWays; }

TwoThreads::TwoThreads() {
  helper = new Helper;
  cpu_set_t all;
  ::sched_getaffinity(0, sizeof all, &all);
  helper->thread = std::thread([] { helper->work(); });
  helper->callers_cores = all;
  // Each on a core of its own: the scheduler may take milliseconds to think of it.
  const int mine = ::sched_getcpu();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(mine), &one);
  ::sched_setaffinity(0, sizeof one, &one);
  CPU_CLR(static_cast<std::size_t>(mine), &all);
  ::pthread_setaffinity_np(helper->thread.native_handle(), sizeof all, &all);
}

TwoThreads::~TwoThreads() {
  helper->stop = true;
  helper->thread.join();
  ::sched_setaffinity(0, sizeof helper->callers_cores, &helper->callers_cores);
  delete helper;
  helper = nullptr;
}

}  // namespace bench
