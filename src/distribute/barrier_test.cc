#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fanin/error.h"
#include "fanin/group.h"

namespace fanin {
namespace {

using namespace std::chrono_literals;

TEST(Barrier, ReturnsWhenAllAreThere) {
  for (const int size : {1, 2, 5}) {
    std::vector<Group> groups = in_process(size, 20s);
    std::atomic<int> arrived{0};
    std::vector<std::jthread> threads;
    for (Group& group : groups)
      threads.emplace_back([&] {
        for (int round = 1; round <= 100; ++round) {
          arrived.fetch_add(1);
          group.barrier();
          EXPECT_GE(arrived.load(), round * size);
          group.barrier();
        }
      });
  }
}

TEST(Barrier, EndsAtTheGroupsDeadline) {
  std::vector<Group> groups = in_process(2, 50ms);
  try {
    groups[0].barrier();
    FAIL() << "the barrier returned";
  } catch (const DeadlineExceeded& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("for rank 1"), std::string::npos) << text;
    EXPECT_NE(text.find("barrier"), std::string::npos) << text;
  }
}

TEST(Barrier, NoticesThatARankLeft) {
  std::vector<Group> groups = in_process(2, 20s);
  groups.pop_back();
  EXPECT_THROW(groups[0].barrier(), PeerFailure);
}

}  // namespace
}  // namespace fanin
