#include "optimizers/step_progress.h"

#include <utility>

#include "core/expect_error.h"

namespace fanin {
namespace {

TEST(StepProgress, EndsAStepWhenAllElementsAreDone) {
  StepProgress progress(10);
  EXPECT_EQ(progress.take(0, 6, 4), 1);
  EXPECT_EQ(progress.take(0, 0, 3), 1);
  EXPECT_EQ(progress.take(0, 3, 3), 1);
  progress.finish(3);
  progress.finish(4);
  EXPECT_EQ(progress.step_count(), 0);
  progress.finish(3);
  EXPECT_EQ(progress.step_count(), 1);
  EXPECT_EQ(progress.take(0, 0, 10), 2);
}

TEST(StepProgress, RefusesElementsThatAreTaken) {
  StepProgress progress(10);
  progress.take(7, 4, 3);
  const std::pair<std::size_t, std::size_t> overlaps[] = {{4, 3}, {0, 5},  {6, 1},
                                                          {5, 1}, {0, 10}, {6, 4}};
  for (const auto& each : overlaps)
    expect_error(ErrorKind::kBadOption,
                 testing::HasSubstr("of parameter 7 are to be updated, but step 1 already has 4 to "
                                    "6; it ends when all 10 have been updated once"),
                 [&] { progress.take(7, each.first, each.second); });
  progress.take(7, 0, 4);
  progress.take(7, 7, 3);
  progress.finish(10);
  EXPECT_EQ(progress.step_count(), 1);
}

TEST(StepProgress, KeepsElementsUntilTheStepEnds) {
  StepProgress progress(2);
  progress.take(0, 0, 1);
  progress.finish(1);
  expect_error(ErrorKind::kBadOption, testing::HasSubstr("step 1 already has 0 to 0"),
               [&] { progress.take(0, 0, 1); });
}

TEST(StepProgress, TakesPiecesOfNoElementsAtAnyTime) {
  StepProgress progress(2);
  EXPECT_EQ(progress.take(0, 0, 2), 1);
  EXPECT_EQ(progress.take(0, 1, 0), 1);
  progress.finish(0);
  EXPECT_EQ(progress.step_count(), 0);
  StepProgress nothing(0);
  EXPECT_EQ(nothing.take(0, 0, 0), 1);
  nothing.finish(0);
  EXPECT_EQ(nothing.step_count(), 1);
}

}  // namespace
}  // namespace fanin
