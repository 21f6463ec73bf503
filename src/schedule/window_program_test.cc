#include "schedule/window_program.h"

#include <gmock/gmock.h>

#include <set>

#include "schedule/test_schedules.h"

namespace fanin {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(LowerToWindow, IsProvedForSchedulesOfAllShapes) {
  for (const Schedule& schedule : schedules_of_all_shapes()) {
    EXPECT_EQ(find_error(lower_to_window(schedule), schedule), std::nullopt) << schedule.name;
    EXPECT_EQ(find_error(lower_to_pads(schedule), schedule), std::nullopt) << schedule.name;
  }
}

TEST(LowerToWindow, GivesARingThreeLevels) {
  // Inputs, the fold of each chunk, and the copy of its result.
  EXPECT_EQ(lower_to_window(ring_of_3()).level_count, 3);
}

TEST(LowerToWindow, GivesAValueASlotOnlyIfAnotherRankReadsIt) {
  const WindowProgram program = lower_to_window(tree_of_4());
  EXPECT_EQ(program.slots[0], std::vector{Cell::kResult});
  EXPECT_EQ(program.slots[1], std::vector{Cell::kInput});
  // Rank 2 makes 2 + 3, which stays a partial, for rank 0.
  EXPECT_EQ(program.slots[2], std::vector{Cell::kPartial});
}

TEST(LowerToWindow, WorksForHelpersRoundRobin) {
  const Schedule schedule = servers_for_3();
  EXPECT_EQ(host_of(schedule, 2), 2);
  EXPECT_EQ(host_of(schedule, 3), 0);
  EXPECT_EQ(host_of(schedule, 4), 1);
}

TEST(LowerToPads, PassesASumOnInOnePlace) {
  // Inputs, two sums one after the other, and the copy of the result.
  const WindowProgram program = lower_to_pads(ring_of_3());
  EXPECT_EQ(program.level_count, 4);
  std::set<Ref> places;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(program.slots[rank].size(), 3U);
    places.insert(program.places[rank].begin(), program.places[rank].end());
  }
  EXPECT_EQ(places.size(), 3U) << "one for each chunk";
}

TEST(LowerToPads, PutsASumOverATermThatOnlyItsMakerReads) {
  const WindowProgram program = lower_to_pads(servers_for_3());
  for (std::size_t rank = 0; rank < 3; ++rank)
    for (std::size_t slot = 0; slot < program.slots[rank].size(); ++slot) {
      const Ref& place = program.places[rank][slot];
      if (program.slots[rank][slot] == Cell::kResult)
        EXPECT_EQ(place.rank, (static_cast<int>(rank) + 1) % 3);
      else
        EXPECT_EQ(place, (Ref{Ref::Kind::kSlot, static_cast<int>(rank), static_cast<int>(slot)}));
    }
}

TEST(LowerToPads, LeavesASumItsOwnPlaceIfOthersReadTheTerms) {
  // Three ranks sum everything, so that each term is read by two others.
  const Schedule all = parse_schedule(R"(schedule all goal=all_reduce ranks=4 helpers=0 chunks=1
round
0 [0,1) = 0 + 1 + 2 + 3
1 [0,1) = 0 + 1 + 2 + 3
2 [0,1) = 0 + 1 + 2 + 3
round
3 [0,1) = 0
)");
  const WindowProgram program = lower_to_pads(all);
  EXPECT_EQ(find_error(program, all), std::nullopt);
  for (std::size_t rank = 0; rank < 4; ++rank)
    for (const Ref& place : program.places[rank]) EXPECT_EQ(place.rank, static_cast<int>(rank));
}

// One broken program for each sentence that the proof promises.

class WindowProof : public testing::Test {
 protected:
  std::optional<std::string> error() const { return find_error(program, schedule); }

  WindowLevel& level(std::size_t rank, std::size_t index) { return program.ranks[rank][index]; }

  Schedule schedule = ring_of_3();
  WindowProgram program = lower_to_window(schedule);
};

TEST_F(WindowProof, SeesAnInputThatIsWritten) {
  level(0, 0).tasks[0].operation.targets = {{Ref::Kind::kInput, 0, 0}};
  EXPECT_THAT(error(), Optional(HasSubstr("writes the input of rank 0")));
}

TEST_F(WindowProof, SeesASlotThatIsReadWithoutAWait) {
  level(0, 1).waits.clear();
  EXPECT_THAT(error(), Optional(HasSubstr("without waiting for level 0")));
}

TEST_F(WindowProof, SeesAReaderForWhomNobodyWaits) {
  program.readers[1].clear();
  EXPECT_THAT(error(), Optional(HasSubstr("does not wait for this reader")));
}

TEST_F(WindowProof, SeesASlotThatIsWrittenTwice) {
  level(0, 0).tasks.push_back(level(0, 0).tasks[0]);
  EXPECT_THAT(error(), Optional(HasSubstr("twice in one wave")));
}

TEST_F(WindowProof, SeesASlotOfAnotherRank) {
  level(0, 0).tasks[0].operation.targets[0].rank = 1;
  EXPECT_THAT(error(), Optional(HasSubstr("writes a slot of rank 1")));
}

TEST_F(WindowProof, SeesASlotThatIsNotCounted) {
  level(0, 0).tasks[0].operation.targets[0].index = 99;
  EXPECT_THAT(error(), Optional(HasSubstr("writes slot 99, which is not counted")));
}

TEST_F(WindowProof, SeesASlotThatHoldsSomethingElse) {
  program.slots[0][0] = program.slots[0][0] == Cell::kInput ? Cell::kPartial : Cell::kInput;
  EXPECT_NE(error(), std::nullopt);
}

TEST_F(WindowProof, SeesAnInputOfAnotherRank) {
  level(0, 0).tasks[0].operation.sources[0].rank = 1;
  EXPECT_THAT(error(), Optional(HasSubstr("reads the input of rank 1")));
}

TEST_F(WindowProof, SeesAFinishedSumThatIsAddedTo) {
  for (WindowLevel::Task& task : level(0, 2).tasks)
    task.operation.sources.push_back({Ref::Kind::kInput, 0, 0});
  EXPECT_THAT(error(), Optional(HasSubstr("added to a finished sum")));
}

TEST_F(WindowProof, SeesAnOutputThatIsNeverWritten) {
  level(2, 2).tasks.clear();
  EXPECT_THAT(error(), Optional(HasSubstr("the output of rank 2 is never written")));
}

TEST_F(WindowProof, SeesAWaitThatCannotEnd) {
  level(0, 1).waits.push_back({1, 1});
  EXPECT_THAT(error(), Optional(HasSubstr("which is not earlier")));
}

TEST_F(WindowProof, SeesAWaitForSomethingThatIsNotPublished) {
  level(1, 0).publishes = false;
  EXPECT_THAT(error(), Optional(HasSubstr("does not publish")));
}

TEST_F(WindowProof, SeesScratchThatIsNotCounted) {
  schedule = two_levels_of_132();
  program = lower_to_window(schedule);
  for (int& count : program.scratch_counts) count = 0;
  EXPECT_THAT(error(), Optional(HasSubstr("which is not counted")));
}

TEST_F(WindowProof, SeesASlotThatIsWrittenOverWhatOthersRead) {
  // Rank 2 also reads what rank 0 reads for the first sum, and writes over.
  schedule = servers_for_3();
  program = lower_to_pads(schedule);
  const Ref taken = program.places[0].front();
  ASSERT_EQ(taken.rank, 1);
  level(2, 1).tasks.push_back({0, {{{Ref::Kind::kScratch, 2, 0}}, {taken}, {}, false}});
  level(2, 1).waits.push_back({1, 0});
  program.scratch_counts[2] = 1;
  EXPECT_THAT(error(), Optional(HasSubstr("which somebody else may read")));
}

TEST_F(WindowProof, SeesASlotInAPlaceThatItsMakerDoesNotRead) {
  // Rank 2 makes 2 + 3, and rank 0 reads the term of rank 1.
  schedule = tree_of_4();
  program = lower_to_window(schedule);
  program.places[2].front() = {Ref::Kind::kSlot, 1, 0};
  EXPECT_THAT(error(), Optional(HasSubstr("over slot 0 of rank 1, which somebody else may read")));
}

TEST_F(WindowProof, SeesAPlaceThatNobodyHasWritten) {
  for (Ref& place : program.places[0]) place = {Ref::Kind::kSlot, 2, 99};
  EXPECT_THAT(error(), Optional(HasSubstr("is not its own and was never written")));
}

TEST_F(WindowProof, SeesASlotWithoutAPlace) {
  program.places[0].clear();
  EXPECT_THAT(error(), Optional(HasSubstr("which has no place")));
}

TEST_F(WindowProof, SeesAUserOfAPlaceForWhomItsOwnerDoesNotWait) {
  schedule = tree_of_4();
  program = lower_to_pads(schedule);
  const Ref place = program.places[0].front();
  ASSERT_NE(place.rank, 0);
  auto& readers = program.readers[static_cast<std::size_t>(place.rank)];
  std::erase(readers, 3);
  EXPECT_THAT(error(), Optional(HasSubstr("does not wait for that before it writes again")));
}

}  // namespace
}  // namespace fanin
