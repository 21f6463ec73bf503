#include "distribute/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <stdexcept>

#include "distribute/handle_state.h"

namespace fanin {
namespace {

using testing::ElementsAre;

/// What was done, in order.
class Diary {
 public:
  void write(int what) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(what);
  }
  std::vector<int> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<int> entries_;
};

TEST(Progress, OneAfterTheOther) {
  Diary diary;
  {
    Progress progress;
    std::vector<Handle> handles;
    handles.reserve(5);
    for (int i = 0; i < 5; ++i)
      handles.push_back(progress.submit({.lane = i % 2}, [&diary, i] { diary.write(i); }));
    progress.wait_for_lane(0);
    EXPECT_TRUE(handles[4].is_done());
  }
  EXPECT_THAT(diary.entries(), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Progress, WhatMattersMoreDoesNotWait) {
  Diary diary;
  std::latch may_end(1);
  Progress progress;
  const Handle slow = progress.submit({.lane = 0, .priority = 1}, [&] {
    may_end.wait();
    diary.write(0);
  });
  const Handle urgent = progress.submit({.lane = 1, .priority = 2}, [&] { diary.write(1); });
  urgent.wait();
  EXPECT_FALSE(slow.is_done());
  // Neither do these overtake it: one matters as much, one needs its lane, and one is behind them.
  const Handle equal = progress.submit({.lane = 1, .priority = 1}, [&] { diary.write(2); });
  const Handle same_lane = progress.submit({.lane = 0, .priority = 9}, [&] { diary.write(3); });
  const Handle behind = progress.submit({.lane = 1, .priority = 9}, [&] { diary.write(4); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_THAT(diary.entries(), ElementsAre(1));
  may_end.count_down();
  for (const Handle& each : {equal, same_lane, behind}) each.wait();
  EXPECT_EQ(diary.entries().size(), 5U);
  EXPECT_EQ(diary.entries()[1], 0);
}

TEST(Progress, AHandleTellsWhenItIsDone) {
  Progress progress;
  std::latch may_end(1);
  std::atomic<int> told = 0;
  const Handle handle = progress.submit({}, [&] {
    may_end.wait();
    throw std::runtime_error("no");
  });
  state_of(handle).call_when_done([&] { ++told; });
  EXPECT_EQ(told, 0);
  may_end.count_down();
  EXPECT_THROW(handle.wait(), std::runtime_error);
  progress.wait_for_lane(0);
  EXPECT_EQ(told, 1);
  state_of(handle).call_when_done([&] { ++told; });
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace fanin
