#include <array>

#include "c_api/test_c_groups.h"

namespace fanin::c_api {
namespace {

using test::expect_ok;
using test::expect_refused;
using test::Outcome;
using test::Threads;
using testing::HasSubstr;

TEST(CHandle, TheCallGoesOnUntilWaitReturns) {
  const Threads threads(2);
  std::array<float, 2> sums{};
  const auto start = [&](int rank, fanin_handle** handle) {
    const auto at = static_cast<std::size_t>(rank);
    sums[at] = static_cast<float>(rank + 1);
    return fanin_all_reduce(threads[rank], &sums[at], &sums[at], 1, FANIN_FLOAT32, nullptr, handle);
  };
  fanin_handle* first = nullptr;
  fanin_handle* second = nullptr;
  expect_ok(start(0, &first));
  std::int32_t is_done = 7;
  expect_ok(fanin_handle_test(first, &is_done));
  EXPECT_EQ(is_done, 0);
  expect_ok(start(1, &second));
  expect_ok(fanin_handle_wait(first));
  expect_ok(fanin_handle_wait(second));
  expect_ok(fanin_handle_wait(second));
  expect_ok(fanin_handle_test(first, &is_done));
  EXPECT_EQ(is_done, 1);
  EXPECT_THAT(sums, testing::Each(3.0F));
  fanin_handle_free(first);
  fanin_handle_free(second);
}

TEST(CHandle, WaitTellsWhatIsWrongOnTheThreadThatWaits) {
  const Threads threads(2);
  const std::vector<Outcome> outcomes = threads.outcomes([](fanin_group* group, int rank) {
    fanin_handle* handle = nullptr;
    float number = 1;
    const std::size_t count = rank == 0 ? 1 : 0;
    expect_ok(fanin_all_reduce(group, &number, &number, count, FANIN_FLOAT32, nullptr, &handle));
    const std::int32_t code = fanin_handle_wait(handle);
    EXPECT_EQ(fanin_handle_wait(handle), code);
    fanin_handle_free(handle);
    return code;
  });
  for (const Outcome& each : outcomes) {
    EXPECT_EQ(each.code, FANIN_INVALID_ARGUMENT);
    EXPECT_EQ(each.kind, FANIN_KIND_SHAPE_MISMATCH);
    EXPECT_THAT(each.message, HasSubstr("rank 0"));
  }
}

TEST(CHandle, MayOutliveItsGroup) {
  fanin_group* group = nullptr;
  expect_ok(fanin_in_process(1, 0, &group));
  float number = 1;
  fanin_handle* handle = nullptr;
  expect_ok(fanin_all_reduce(group, &number, &number, 1, FANIN_FLOAT32, nullptr, &handle));
  fanin_group_free(group);
  expect_ok(fanin_handle_wait(handle));
  fanin_handle_free(handle);
}

TEST(CHandle, IsNullWhereTheCallIsRefused) {
  const Threads threads(1);
  fanin_handle* handle = reinterpret_cast<fanin_handle*>(&handle);
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("dtype 99 is none"),
                 fanin_all_reduce(threads[0], nullptr, nullptr, 0, 99, nullptr, &handle));
  EXPECT_EQ(handle, nullptr);
}

TEST(CHandle, NullIsRefusedOrNothing) {
  std::int32_t is_done = 0;
  expect_refused(FANIN_KIND_BAD_OPTION, "the handle is NULL; give its address",
                 fanin_handle_wait(nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, "the handle is NULL; give its address",
                 fanin_handle_test(nullptr, &is_done));
  fanin_handle_free(nullptr);
}

}  // namespace
}  // namespace fanin::c_api
