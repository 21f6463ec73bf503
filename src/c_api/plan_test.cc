#include <array>
#include <vector>

#include "c_api/test_c_groups.h"

namespace fanin::c_api {
namespace {

using test::call_options;
using test::expect_ok;
using test::expect_refused;
using test::Outcome;
using test::Threads;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array<std::size_t, 3> kCounts{2, 0, 1};

TEST(CPlan, RunsManyTimesBlockingAndByHandle) {
  const Threads threads(2);
  threads.run([](fanin_group* group, int rank) {
    fanin_call_options options = call_options();
    options.op = FANIN_MEAN;
    fanin_plan* plan = nullptr;
    expect_ok(fanin_plan_all_reduce(group, kCounts.size(), kCounts.data(), FANIN_FLOAT32, &options,
                                    &plan));
    for (int step = 0; step < 6; ++step) {
      const auto first = static_cast<float>(rank + step);
      const std::vector<float> a{first, 10 * first};
      std::vector<float> b{2 * first};
      std::vector<float> mean_of_a(2);
      const std::array<const void*, 3> inputs{a.data(), nullptr, b.data()};
      const std::array<void*, 3> outputs{mean_of_a.data(), nullptr, b.data()};
      fanin_call_options of_run = call_options();
      of_run.has_step = 1;
      of_run.step = step;
      fanin_handle* handle = nullptr;
      expect_ok(fanin_plan_run(plan, inputs.data(), outputs.data(), &of_run,
                               step % 2 == 0 ? nullptr : &handle));
      if (step % 2 != 0) expect_ok(fanin_handle_wait(handle));
      fanin_handle_free(handle);
      const float mean = static_cast<float>(step) + 0.5F;
      EXPECT_THAT(mean_of_a, ElementsAre(mean, 10 * mean));
      EXPECT_THAT(b, ElementsAre(2 * mean));
    }
    fanin_plan_free(plan);
  });
}

TEST(CPlan, ExplainsItself) {
  const Threads threads(4);
  fanin_plan* plan = nullptr;
  const char* text = nullptr;
  expect_ok(fanin_plan_all_reduce(threads[1], kCounts.size(), kCounts.data(), FANIN_FLOAT64,
                                  nullptr, &plan));
  expect_ok(fanin_plan_explain(plan, &text));
  EXPECT_THAT(
      text, AllOf(HasSubstr("SUM of 3 tensors (24 B) among 4 workers with 1 devices each: 1 pack"),
                  HasSubstr("float64   direct "), HasSubstr("buffer 0"),
                  HasSubstr("note: auto is direct for 4 ranks of which 4 are on this host"),
                  HasSubstr("note: between ranks of one host")));
  fanin_plan_free(plan);

  fanin_call_options options = call_options();
  options.algorithm = "xring";
  expect_ok(fanin_plan_all_reduce(threads[1], 1, kCounts.data(), FANIN_FLOAT64, &options, &plan));
  expect_ok(fanin_plan_explain(plan, &text));
  EXPECT_THAT(text, AllOf(HasSubstr(" ring "), testing::Not(HasSubstr("auto"))));
  fanin_plan_free(plan);
}

TEST(CPlan, IsCheckedWhenItIsMade) {
  const Threads threads(1);
  fanin_plan* plan = nullptr;
  const auto make = [&](const fanin_call_options* options, std::int32_t dtype = FANIN_FLOAT32) {
    return fanin_plan_all_reduce(threads[0], kCounts.size(), kCounts.data(), dtype, options, &plan);
  };
  fanin_call_options options = call_options();
  options.op = 9;
  expect_refused(FANIN_KIND_BAD_REDUCE_OP, HasSubstr("op 9 of all_reduce is none"), make(&options));
  options = call_options();
  options.algorithm = "bucket brigade";
  expect_refused(FANIN_KIND_BAD_SPEC, HasSubstr("bucket brigade"), make(&options));
  options = call_options();
  options.timeout_seconds = -1;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("above 0 s"), make(&options));
  options = call_options();
  options.has_step = 1;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("give it to fanin_plan_run()"), make(&options));
  options = call_options();
  const std::int64_t extent = 1;
  options.extents = &extent;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("a plan has no parts"), make(&options));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("dtype 77 is none"), make(nullptr, 77));
  expect_refused(FANIN_KIND_EMPTY, "a plan needs at least one buffer",
                 fanin_plan_all_reduce(threads[0], 0, nullptr, FANIN_FLOAT32, nullptr, &plan));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("the list of counts is NULL"),
                 fanin_plan_all_reduce(threads[0], 1, nullptr, FANIN_FLOAT32, nullptr, &plan));
  const std::size_t too_many = SIZE_MAX;
  expect_refused(FANIN_KIND_SHAPE_MISMATCH, HasSubstr("more than memory can address"),
                 fanin_plan_all_reduce(threads[0], 1, &too_many, FANIN_FLOAT32, nullptr, &plan));
  expect_refused(
      FANIN_KIND_BAD_OPTION, HasSubstr("place for the plan is NULL"),
      fanin_plan_all_reduce(threads[0], 1, kCounts.data(), FANIN_FLOAT32, nullptr, nullptr));
  EXPECT_EQ(plan, nullptr);
}

TEST(CPlan, WhatARunIsRefusedTheOthersAreTold) {
  const Threads threads(2);
  const std::vector<Outcome> outcomes = threads.outcomes([](fanin_group* group, int rank) {
    fanin_plan* plan = nullptr;
    expect_ok(fanin_plan_all_reduce(group, 1, kCounts.data(), FANIN_FLOAT32, nullptr, &plan));
    std::array<float, 2> data{};
    const void* const input = rank == 0 ? data.data() : nullptr;
    void* const output = data.data();
    const std::int32_t code = fanin_plan_run(plan, &input, &output, nullptr, nullptr);
    fanin_plan_free(plan);
    return code;
  });
  EXPECT_THAT(outcomes[0].message, HasSubstr("input 0 of the plan is NULL, but has 2 elements"));
  EXPECT_EQ(outcomes[1].message,
            "input 0 of the plan is NULL, but has 2 elements; give their address");
}

TEST(CPlan, ARunHasNothingToChoose) {
  const Threads threads(1);
  fanin_plan* plan = nullptr;
  expect_ok(fanin_plan_all_reduce(threads[0], 1, kCounts.data(), FANIN_FLOAT32, nullptr, &plan));
  std::array<float, 2> data{};
  const void* const input = data.data();
  void* const output = data.data();
  fanin_call_options options = call_options();
  options.op = FANIN_MAX;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("op is set, but a run of a plan has no use"),
                 fanin_plan_run(plan, &input, &output, &options, nullptr));
  options = call_options();
  options.algorithm = "ring";
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("algorithm is set"),
                 fanin_plan_run(plan, &input, &output, &options, nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("the list of inputs is NULL"),
                 fanin_plan_run(plan, nullptr, &output, nullptr, nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("the list of outputs is NULL"),
                 fanin_plan_run(plan, &input, nullptr, nullptr, nullptr));
  fanin_plan_free(plan);
}

TEST(CPlan, NullIsRefusedOrNothing) {
  const char* text = nullptr;
  fanin_plan* plan = nullptr;
  expect_refused(FANIN_KIND_BAD_OPTION, "the plan is NULL; give its address",
                 fanin_plan_run(nullptr, nullptr, nullptr, nullptr, nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, "the plan is NULL; give its address",
                 fanin_plan_explain(nullptr, &text));
  expect_refused(FANIN_KIND_BAD_OPTION, "the group is NULL; give its address",
                 fanin_plan_all_reduce(nullptr, 1, kCounts.data(), FANIN_FLOAT32, nullptr, &plan));
  fanin_plan_free(nullptr);
}

}  // namespace
}  // namespace fanin::c_api
