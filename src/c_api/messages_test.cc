#include <array>

#include "c_api/test_c_groups.h"

namespace fanin::c_api {
namespace {

using test::call_options;
using test::expect_ok;
using test::expect_refused;
using test::Outcome;
using test::Threads;
using testing::HasSubstr;

TEST(CMessages, GoFromOneRankToAnother) {
  const Threads threads(2);
  threads.run([](fanin_group* group, int rank) {
    std::array<std::int16_t, 3> data{};
    if (rank == 0) {
      data = {1, 2, 3};
      expect_ok(fanin_send(group, data.data(), 3, FANIN_INT16, 1, 0, nullptr, nullptr));
    } else {
      expect_ok(fanin_receive(group, data.data(), 3, FANIN_INT16, 0, 0, nullptr, nullptr));
      EXPECT_THAT(data, testing::ElementsAre(1, 2, 3));
    }
  });
}

TEST(CMessages, CrossByHandlesAndAreFoundByTheirTags) {
  const Threads threads(2);
  threads.run([](fanin_group* group, int rank) {
    const std::array<double, 2> sent{10.0 + rank, 20.0 + rank};
    std::array<double, 2> got{};
    std::array<fanin_handle*, 4> handles{};
    for (const std::uint32_t tag : {0U, 1U})
      expect_ok(fanin_send(group, &sent[tag], 1, FANIN_FLOAT64, 1 - rank, 7 + tag, nullptr,
                           &handles[tag]));
    for (const std::uint32_t tag : {1U, 0U})
      expect_ok(fanin_receive(group, &got[tag], 1, FANIN_FLOAT64, 1 - rank, 7 + tag, nullptr,
                              &handles[2 + tag]));
    for (fanin_handle* handle : handles) {
      expect_ok(fanin_handle_wait(handle));
      fanin_handle_free(handle);
    }
    EXPECT_THAT(got, testing::ElementsAre(11.0 - rank, 21.0 - rank));
  });
}

TEST(CMessages, BothRanksMustMeanTheSame) {
  const Threads threads(2);
  const auto outcomes = threads.outcomes([](fanin_group* group, int rank) {
    std::array<float, 2> data{};
    return rank == 0 ? fanin_send(group, data.data(), 1, FANIN_FLOAT32, 1, 0, nullptr, nullptr)
                     : fanin_receive(group, data.data(), 2, FANIN_FLOAT32, 0, 0, nullptr, nullptr);
  });
  for (const Outcome& each : outcomes) {
    EXPECT_EQ(each.code, FANIN_INVALID_ARGUMENT);
    EXPECT_THAT(each.message, HasSubstr("rank 0 sent float32 [1] and rank 1 wants float32 [2]"));
  }
}

TEST(CMessages, SayWhatIsWrongWithTheirArguments) {
  const Threads threads(2);
  float number = 0;
  const auto send = [&](const void* data, std::int32_t dtype, std::int32_t to,
                        const fanin_call_options* options = nullptr) {
    return fanin_send(threads[0], data, 1, dtype, to, 0, options, nullptr);
  };
  const auto receive = [&](void* data, std::int32_t dtype, std::int32_t from,
                           const fanin_call_options* options = nullptr) {
    return fanin_receive(threads[0], data, 1, dtype, from, 0, options, nullptr);
  };
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("the data of send is NULL, but has 1 elements"),
                 send(nullptr, FANIN_FLOAT32, 1));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("the data of receive is NULL"),
                 receive(nullptr, FANIN_FLOAT32, 1));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("dtype 55 is none"), send(&number, 55, 1));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("dtype -5 is none"), receive(&number, -5, 1));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("rank 2 does not exist"),
                 send(&number, FANIN_FLOAT32, 2));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("receive from itself"),
                 receive(&number, FANIN_FLOAT32, 0));
  fanin_call_options options = call_options();
  options.op = FANIN_MAX;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("op is set, but send has no use for it"),
                 send(&number, FANIN_FLOAT32, 1, &options));
  options = call_options();
  options.has_step = 1;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("has_step is set, but receive has no use"),
                 receive(&number, FANIN_FLOAT32, 1, &options));
  expect_refused(FANIN_KIND_BAD_OPTION, "the group is NULL; give its address",
                 fanin_send(nullptr, &number, 1, FANIN_FLOAT32, 1, 0, nullptr, nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, "the group is NULL; give its address",
                 fanin_receive(nullptr, &number, 1, FANIN_FLOAT32, 1, 0, nullptr, nullptr));
}

TEST(CMessages, EndByTheirDeadline) {
  const Threads threads(2);
  float number = 0;
  fanin_call_options options = call_options();
  options.timeout_seconds = 0.02;
  test::expect_error(FANIN_DEADLINE_EXCEEDED, FANIN_KIND_TIMEOUT, HasSubstr("rank 1"),
                     fanin_receive(threads[0], &number, 1, FANIN_FLOAT32, 1, 0, &options, nullptr));
}

}  // namespace
}  // namespace fanin::c_api
