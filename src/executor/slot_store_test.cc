#include "executor/slot_store.h"

#include <gtest/gtest.h>

namespace fanin {
namespace {

/// Writes with these costs, and how many were the slower way of the two.
struct Writes {
  double cached;
  double streaming;

  int count_streaming(SlotStore& store, int writes) const {
    int count = 0;
    for (int i = 0; i < writes; ++i) {
      const SlotStore::Choice choice = store.next();
      const bool streams = choice.store == Store::kStreaming;
      count += streams ? 1 : 0;
      if (choice.is_timed) store.tell(choice.store, (streams ? streaming : cached) * 1000, 1000);
    }
    return count;
  }
};

constexpr Writes kNear{.cached = 1.2, .streaming = 1};
constexpr Writes kFar{.cached = 4, .streaming = 1};

TEST(SlotStore, StaysInTheCacheWhereCoresAreNear) {
  SlotStore store;
  EXPECT_LE(kNear.count_streaming(store, 1280), 11);
  EXPECT_EQ(store.usual(), Store::kCached);
}

TEST(SlotStore, StreamsSoonWhereTheyAreFar) {
  SlotStore store;
  kFar.count_streaming(store, 20);
  EXPECT_EQ(store.usual(), Store::kStreaming);
  EXPECT_GE(kFar.count_streaming(store, 1280), 1269);
}

TEST(SlotStore, FollowsCoresThatMove) {
  SlotStore store;
  for (int i = 0; i < 3; ++i) {
    kFar.count_streaming(store, 300);
    EXPECT_EQ(store.usual(), Store::kStreaming);
    kNear.count_streaming(store, 300);
    EXPECT_EQ(store.usual(), Store::kCached);
  }
}

TEST(SlotStore, OneSlowWriteIsChance) {
  SlotStore store;
  kFar.count_streaming(store, 8);
  kNear.count_streaming(store, 100);
  EXPECT_EQ(store.usual(), Store::kCached);
}

TEST(SlotStore, WritesOfNothingSayNothing) {
  SlotStore store;
  for (int i = 0; i < 1000; ++i) {
    const SlotStore::Choice choice = store.next();
    if (choice.is_timed) store.tell(choice.store, choice.store == Store::kCached ? 9 : 1, 0);
  }
  EXPECT_EQ(store.usual(), Store::kCached);
}

}  // namespace
}  // namespace fanin
