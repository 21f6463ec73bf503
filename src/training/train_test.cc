#include "training/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/expect_error.h"
#include "distribute/test_groups.h"

namespace fanin::training {
namespace {

using testing::Each;
using testing::Gt;
using testing::HasSubstr;

/// Small enough for every sanitizer: the first images only.
Digits few_digits(std::size_t train_count = 64) {
  Digits digits = load_digits();
  digits.train.resize(train_count);
  digits.test.resize(40);
  return digits;
}

TrainOptions small(int workers, int devices) {
  return {.worker_count = workers,
          .devices_per_worker = devices,
          .bytes_per_pack = 4000,
          .epoch_count = 2,
          .batch_size = 16,
          .width = 16};
}

std::uint64_t hash_after(const TrainOptions& options) {
  return train_in_threads(few_digits(), options).final_hash;
}

TEST(Train, LearnsTheDigits) {
  Digits digits = load_digits();
  digits.train.resize(320);
  const TrainOptions options{
      .worker_count = 2, .devices_per_worker = 1, .epoch_count = 6, .batch_size = 32, .width = 32};
  const TrainReport report = train_in_threads(digits, options);
  ASSERT_EQ(report.epochs.size(), 6);
  EXPECT_LT(report.epochs.back().train.loss, report.epochs.front().train.loss / 3);
  EXPECT_EQ(report.epochs.back().test.image_count, 360);
  EXPECT_GT(report.epochs.back().test.correct_count, 270);
  EXPECT_EQ(report.times().step_count, 6 * 10);
  EXPECT_EQ(report.transport, "in-process");
  EXPECT_GT(report.peak_bytes, 0);
}

TEST(Train, TheSameSeedAndPlanGiveTheSameBits) {
  const TrainOptions options = small(2, 2);
  const std::uint64_t hash = hash_after(options);
  EXPECT_EQ(hash_after(options), hash);
  TrainOptions other = options;
  other.thread_count = 1;
  EXPECT_EQ(hash_after(other), hash);
  other = options;
  other.seed = 2;
  EXPECT_NE(hash_after(other), hash);
}

TEST(Train, HasTheSameBitsInOneProcessAndMany) {
  std::vector<TrainOptions> ways;
  for (const char* const spec : {"pscpu/pscpu#2", "nccl/xring", "rechd"}) {
    TrainOptions& options = ways.emplace_back(small(3, 2));
    options.batch_size = 12;
    options.spec = AllReduceSpec(spec);
  }
  // Processes before there are threads: each tells what it found.
  std::vector<std::vector<std::string>> told;
  for (const TrainOptions& options : ways)
    told.push_back(test::in_processes(3, [&](Group& group) {
      throw std::runtime_error(std::to_string(train(group, few_digits(), options).final_hash));
    }));
  for (std::size_t i = 0; i < ways.size(); ++i)
    EXPECT_THAT(told[i], Each(std::to_string(hash_after(ways[i]))));
}

TEST(Train, WorksWithEveryMethodOptimizerAndOption) {
  TrainOptions options = small(2, 1);
  for (const auto method : {AggregationMethod::kAddN, AggregationMethod::kExperimentalTree,
                            AggregationMethod::kExperimentalAccumulateN}) {
    options.method = method;
    const TrainReport report = train_in_threads(few_digits(), options);
    EXPECT_LT(report.epochs.back().train.loss, report.epochs.front().train.loss);
  }
  options.optimizer = AdamOptions{};
  options.pass_count = 2;
  options.clip_norm = 0.5;
  options.bytes_per_pack = 0;
  Trace trace;
  options.trace = &trace;
  const TrainReport report = train_in_threads(few_digits(), options);
  EXPECT_LT(report.epochs.back().train.loss, report.epochs.front().train.loss);
  EXPECT_GT(report.plan.request.packing.bytes_per_pack, 0);
  EXPECT_THAT(report.plan.notes.back(), HasSubstr("automatic: packs of"));
  const TraceRecord record = trace.take();
  for (const char* const category : {"forward", "backward", "pack"})
    EXPECT_THAT(std::ranges::count(record.events, category, &TraceEvent::category), Gt(0))
        << category;
}

TEST(Train, PassesAreOneBatchInPieces) {
  // The mean of two halves is the mean of the whole, but for rounding.
  TrainOptions options = small(2, 1);
  options.epoch_count = 1;
  const double once = train_in_threads(few_digits(16), options).epochs[0].test.loss;
  options.pass_count = 2;
  EXPECT_NEAR(train_in_threads(few_digits(16), options).epochs[0].test.loss, once, 1e-4);
}

TEST(Train, TellsHowFarItIs) {
  std::vector<StepNews> news;
  train_in_threads(few_digits(), small(2, 2), [&](const StepNews& each) { news.push_back(each); });
  ASSERT_EQ(news.size(), 8);
  EXPECT_EQ(news.back().step, 8);
  EXPECT_EQ(news.back().step_count, 8);
  EXPECT_EQ(news.back().epoch, 1);
  EXPECT_EQ(news.back().score.image_count, 8);
}

TEST(Train, SaysWhatIsWrong) {
  using enum ErrorKind;
  const Digits digits = few_digits();
  const auto refuses = [&](TrainOptions options, const std::string& sentence) {
    expect_error(kBadOption, sentence, [&] { train_in_threads(digits, options); });
  };
  TrainOptions options = small(3, 2);
  refuses(options,
          "6 replicas with 1 passes a step cannot share a batch of 16 evenly; use a multiple of 6");
  options.batch_size = 600;
  refuses(options, "a batch of 600 is more than the 64 images to train with");
  options = small(0, 2);
  refuses(options, "the number of workers is 0; use 1 or more");
  options = small(2, 2);
  options.clip_norm = -1;
  refuses(options, "the norm to clip to is -1; use a number above 0");
  options = small(2, 2);
  options.bytes_per_pack = -5;
  refuses(options, "bytes_per_pack is -5; use 0 (automatic) or more");
  std::vector<Group> groups = in_process(1);
  expect_error(kBadOption,
               "2 workers were asked for, but the group has 1 ranks; there is one for each worker",
               [&] { train(groups[0], digits, small(2, 2)); });
}

}  // namespace
}  // namespace fanin::training
