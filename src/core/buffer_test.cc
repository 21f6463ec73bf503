#include "fanin/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "core/expect_error.h"
#include "fanin/context.h"

namespace fanin {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 30;

bool is_aligned(const Buffer& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 64 == 0;
}

TEST(BufferPool, CountsWhatIsAskedForNowAndAtMost) {
  BufferPool pool(kPlenty);
  {
    const Buffer a = pool.allocate(100);
    EXPECT_EQ(pool.stats().now_bytes, 100U);
    {
      const Buffer b = pool.allocate(1000);
      EXPECT_EQ(pool.stats().now_bytes, 1100U);
    }
    EXPECT_EQ(pool.stats().now_bytes, 100U);
    EXPECT_EQ(pool.stats().peak_bytes, 1100U);
    pool.reset_peak();
    EXPECT_EQ(pool.stats().peak_bytes, 100U);
  }
  EXPECT_EQ(pool.stats().now_bytes, 0U);
  EXPECT_EQ(pool.stats().peak_bytes, 100U);
}

TEST(BufferPool, GivesAlignedMemoryOfEverySize) {
  BufferPool pool(kPlenty);
  for (std::size_t bytes = 0; bytes <= 5000; bytes += 37) {
    const Buffer buffer = pool.allocate(bytes);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_TRUE(is_aligned(buffer)) << bytes;
    std::memset(buffer.bytes().data(), 0xab, bytes);  // the sanitizer sees a byte too few
  }
  for (std::size_t bytes = (2 << 20) - 1; bytes < (9 << 20); bytes += 1'234'567) {
    const Buffer buffer = pool.allocate(bytes);
    EXPECT_TRUE(is_aligned(buffer)) << bytes;
    std::memset(buffer.bytes().data(), 0xab, bytes);
  }
}

TEST(BufferPool, GivesLargeBuffersDifferentPlacesInThePage) {
  BufferPool pool(0);
  std::vector<Buffer> buffers(4);
  for (Buffer& buffer : buffers) buffer = pool.allocate(4 << 20);
  for (std::size_t i = 1; i < buffers.size(); ++i) {
    const auto offset = [&](std::size_t k) {
      return reinterpret_cast<std::uintptr_t>(buffers[k].bytes().data()) % 4096;
    };
    EXPECT_NE(offset(i - 1), offset(i));
  }
}

TEST(BufferPool, AllowsNoBytes) {
  BufferPool pool(kPlenty);
  const Buffer buffer = pool.allocate(0);
  EXPECT_TRUE(buffer.bytes().empty());
  EXPECT_EQ(pool.stats().now_bytes, 0U);
  EXPECT_EQ(Buffer().size(), 0U);
  EXPECT_TRUE(Buffer().bytes().empty());
}

TEST(BufferPool, ReusesWithoutAskingTheSystem) {
  BufferPool pool(kPlenty);
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{5} << 20}) {
    const std::byte* place = pool.allocate(bytes).bytes().data();
    const std::uint64_t asked = pool.stats().allocation_count;
    EXPECT_GE(pool.stats().cached_bytes, bytes);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(pool.allocate(bytes).bytes().data(), place);
    EXPECT_EQ(pool.allocate(bytes - 1).bytes().data(), place) << "a size that shares the list";
    EXPECT_EQ(pool.stats().allocation_count, asked);
  }
}

TEST(BufferPool, KeepsNoMoreThanItsLimit) {
  BufferPool pool(4096);
  {
    const Buffer a = pool.allocate(4096);
    const Buffer b = pool.allocate(4096);
  }
  EXPECT_EQ(pool.stats().cached_bytes, 4096U);
  pool.trim();
  EXPECT_EQ(pool.stats().cached_bytes, 0U);
  { const Buffer large = pool.allocate(5000); }
  EXPECT_EQ(pool.stats().cached_bytes, 0U);

  BufferPool keeps_nothing(0);
  { const Buffer any = keeps_nothing.allocate(1); }
  EXPECT_EQ(keeps_nothing.stats().cached_bytes, 0U);
  BufferPool keeps_all(std::numeric_limits<std::size_t>::max());
  { const Buffer any = keeps_all.allocate(1); }
  EXPECT_EQ(keeps_all.stats().cached_bytes, 64U);
}

TEST(BufferPool, WastesAtMostAnEighth) {
  BufferPool pool(kPlenty);
  for (std::size_t bytes = 512; bytes < 100'000; bytes += 97) {
    { const Buffer buffer = pool.allocate(bytes); }
    const std::size_t reserved = pool.stats().cached_bytes;
    EXPECT_GE(reserved, bytes);
    EXPECT_LE(reserved, bytes + bytes / 8 + 64) << bytes;
    pool.trim();
  }
}

TEST(BufferPool, LetsBuffersOutliveIt) {
  auto pool = std::make_unique<BufferPool>(kPlenty);
  Buffer small = pool->allocate(100);
  Buffer large = pool->allocate(3 << 20);
  const std::shared_ptr<std::byte> handle = small.handle();
  pool.reset();
  small = Buffer();
  std::memset(handle.get(), 1, 100);
  std::memset(large.bytes().data(), 1, large.size());
}

TEST(BufferPool, SaysWhenThereIsNoMemory) {
  BufferPool pool(kPlenty);
  const Buffer held = pool.allocate(10);
  { const Buffer cached = pool.allocate(1000); }
  for (const std::size_t bytes :
       {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() / 2,
        std::numeric_limits<std::size_t>::max() / 4})
    expect_error(ErrorKind::kSystem,
                 "no memory for a buffer of " + std::to_string(bytes) +
                     " bytes (10 bytes are in use by this pool)",
                 [&] { pool.allocate(bytes); });
  EXPECT_EQ(pool.stats().now_bytes, 10U);
  EXPECT_EQ(pool.stats().cached_bytes, 0U) << "the cache was given up before giving up";
  EXPECT_EQ(pool.allocate(100).size(), 100U);
}

TEST(BufferPool, MayBeUsedFromManyThreads) {
  BufferPool pool(1 << 16);
  const auto work = [&pool](int seed) {
    std::vector<Buffer> held;
    for (int i = 0; i < 2000; ++i) {
      const auto bytes = static_cast<std::size_t>((i * 7919 + seed) % 5000);
      held.push_back(pool.allocate(bytes));
      std::memset(held.back().bytes().data(), seed, bytes);
      if (held.size() > 8) held.erase(held.begin());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  }
  EXPECT_EQ(pool.stats().now_bytes, 0U);
  EXPECT_LE(pool.stats().cached_bytes, std::size_t{1} << 16);
}

TEST(Context, HasThreadsAndMemoryOfItsOwn) {
  Context one({.thread_count = 1});
  Context three({.thread_count = 3});
  EXPECT_EQ(one.thread_count(), 1);
  EXPECT_EQ(three.thread_count(), 3);
  EXPECT_GE(Context().thread_count(), 1);
  const Buffer buffer = one.buffers().allocate(100);
  EXPECT_EQ(one.memory().now_bytes, 100U);
  EXPECT_EQ(three.memory().now_bytes, 0U);
  EXPECT_EQ(&Context::process(), &Context::process());
}

TEST(Context, RefusesImpossibleThreadCounts) {
  for (const int count : {-1, 1025})
    expect_error(ErrorKind::kBadOption,
                 "thread_count must be from 0 (automatic) to 1024, got " + std::to_string(count),
                 [&] { Context context({.thread_count = count}); });
}

}  // namespace
}  // namespace fanin
