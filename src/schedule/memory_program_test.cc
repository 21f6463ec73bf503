#include "schedule/memory_program.h"

#include <gmock/gmock.h>

#include "schedule/test_schedules.h"

namespace fanin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

Ref input(int rank) { return {Ref::Kind::kInput, rank, 0}; }
Ref output(int rank) { return {Ref::Kind::kOutput, rank, 0}; }

TEST(LowerToMemory, IsProvedForSchedulesOfAllShapes) {
  for (const Schedule& schedule : schedules_of_all_shapes())
    for (int chunk = 0; chunk < schedule.chunk_count; ++chunk)
      for (const Outputs outputs : {Outputs::kSeparate, Outputs::kShared})
        EXPECT_EQ(find_error(lower_to_memory(schedule, chunk, outputs), schedule, chunk, outputs),
                  std::nullopt)
            << schedule.name << " chunk " << chunk;
}

TEST(LowerToMemory, MakesARingOneFoldInRotatedOrder) {
  const MemoryProgram program = lower_to_memory(ring_of_3(), 1, Outputs::kSeparate);
  ASSERT_EQ(program.operations.size(), 1U);
  EXPECT_THAT(program.operations[0].sources, ElementsAre(input(1), input(2), input(0)));
  EXPECT_THAT(program.operations[0].targets, ElementsAre(output(0), output(1), output(2)));
  EXPECT_TRUE(program.operations[0].group_sizes.empty());
}

TEST(LowerToMemory, KeepsTheShapeOfATreeAsAGroup) {
  const MemoryProgram program = lower_to_memory(tree_of_4(), 0, Outputs::kShared);
  ASSERT_EQ(program.operations.size(), 1U);
  EXPECT_THAT(program.operations[0].sources, ElementsAre(input(0), input(1), input(2), input(3)));
  EXPECT_THAT(program.operations[0].group_sizes, ElementsAre(1, 1, 2));
  EXPECT_THAT(program.operations[0].targets, ElementsAre(output(0)));
}

TEST(LowerToMemory, LetsHelpersDisappear) {
  const MemoryProgram program = lower_to_memory(servers_for_3(), 0, Outputs::kSeparate);
  ASSERT_EQ(program.operations.size(), 1U);
  EXPECT_EQ(program.scratch_count, 0);
}

TEST(LowerToMemory, PutsGroupsInsideOfGroupsIntoScratch) {
  EXPECT_GT(lower_to_memory(two_levels_of_132(), 0, Outputs::kShared).scratch_count, 0);
}

TEST(LowerToMemory, NestsThemInOneOperationIfItIsAllowed) {
  const Schedule schedule = two_levels_of_132();
  const MemoryProgram program = lower_to_memory(schedule, 0, Outputs::kShared, 132);
  ASSERT_EQ(program.operations.size(), 1U);
  EXPECT_EQ(program.scratch_count, 0);
  EXPECT_EQ(program.operations[0].joins.size(), 132U);
  EXPECT_EQ(find_error(program, schedule, 0, Outputs::kShared), std::nullopt);
  EXPECT_GT(lower_to_memory(schedule, 0, Outputs::kShared, 131).scratch_count, 0) << "too many";
  EXPECT_TRUE(lower_to_memory(tree_of_4(), 0, Outputs::kShared, 17).operations[0].joins.empty());
}

// One broken program for each sentence that the proof promises.

class MemoryProof : public testing::Test {
 protected:
  std::optional<std::string> error() const {
    return find_error(program, schedule, 0, Outputs::kSeparate);
  }
  Schedule schedule = tree_of_4();
  MemoryProgram program = lower_to_memory(schedule, 0, Outputs::kSeparate);
  Operation& last() { return program.operations.back(); }
};

TEST_F(MemoryProof, SeesAnInputThatIsWritten) {
  last().targets[1] = input(1);
  EXPECT_THAT(error(), Optional(HasSubstr("writes the input of rank 1")));
}

TEST_F(MemoryProof, SeesScratchThatIsNotCounted) {
  program.operations.insert(program.operations.begin(),
                            {{{Ref::Kind::kScratch, 0, 0}}, {input(0), input(1)}, {}, false});
  EXPECT_THAT(error(), Optional(HasSubstr("writes scratch 0 of 0")));
}

TEST_F(MemoryProof, SeesScratchThatIsReadBeforeItIsWritten) {
  program.scratch_count = 1;
  last().sources[0] = {Ref::Kind::kScratch, 0, 0};
  EXPECT_THAT(error(), Optional(HasSubstr("reads what nobody has written")));
}

TEST_F(MemoryProof, SeesScratchThatIsUsedAgainBeforeItsLastReader) {
  const Ref scratch{Ref::Kind::kScratch, 0, 0};
  program.scratch_count = 1;
  program.operations = {{{scratch}, {input(0), input(1)}, {}, false},
                        {{scratch}, {input(2), input(3)}, {}, false},
                        {last().targets, {scratch, scratch}, {}, true}};
  EXPECT_THAT(error(), Optional(HasSubstr("is another sum than the schedule's")));
}

TEST_F(MemoryProof, SeesAnOutputThatIsWrittenTwice) {
  program.operations.push_back(last());
  EXPECT_THAT(error(), Optional(HasSubstr("writes an output that was written before")));
}

TEST_F(MemoryProof, SeesAFinishedSumThatIsAddedTo) {
  program.operations.push_back({{output(0)}, {output(1), input(0)}, {}, true});
  EXPECT_THAT(error(), Optional(HasSubstr("adds to a finished sum")));
}

TEST_F(MemoryProof, SeesAnOutputThatIsNotFinished) {
  last().finishes = false;
  EXPECT_THAT(error(), Optional(HasSubstr("writes an output that is not finished")));
}

TEST_F(MemoryProof, SeesAFinishedSumInScratchThatIsTakenForAPartialOne) {
  const Ref scratch{Ref::Kind::kScratch, 0, 0};
  program.scratch_count = 1;
  const std::vector<Ref> outputs = last().targets;
  last().targets = {scratch};
  program.operations.push_back({outputs, {scratch}, {}, true});
  EXPECT_EQ(error(), std::nullopt) << "it may be copied";
  program.operations[1] = {{scratch}, {scratch}, {}, false};
  EXPECT_THAT(error(), Optional(HasSubstr("adds to a finished sum")));
}

TEST_F(MemoryProof, SeesAnOutputThatIsNeverWritten) {
  last().targets.pop_back();
  EXPECT_THAT(error(), Optional(HasSubstr("the output of rank 3 is never written")));
}

TEST_F(MemoryProof, SeesAnotherOrderThanTheSchedules) {
  std::swap(last().sources[0], last().sources[1]);
  EXPECT_THAT(error(), Optional(HasSubstr("is another sum than the schedule's")));
}

TEST_F(MemoryProof, SeesGroupsThatDoNotFit) {
  last().group_sizes = {1, 1, 1};
  EXPECT_THAT(error(), Optional(HasSubstr("groups that do not fit")));
}

TEST_F(MemoryProof, SeesJoinsThatDoNotFit) {
  last().group_sizes.clear();
  last().joins = {0, 1, 0, 2};
  EXPECT_EQ(error(), std::nullopt) << "the tree";
  last().joins = {0, 1, 1, 1};
  EXPECT_THAT(error(), Optional(HasSubstr("is another sum than the schedule's")));
  for (const std::vector<std::uint8_t>& joins : std::vector<std::vector<std::uint8_t>>{
           {0, 1, 0, 1}, {0, 1, 0, 3}, {1, 1, 0, 2}, {0, 1, 2}, {0, 1, 0, 2, 0}}) {
    last().joins = joins;
    EXPECT_THAT(error(), Optional(HasSubstr("groups that do not fit")));
  }
  last().joins = {0, 1, 0, 2};
  last().group_sizes = {1, 1, 2};
  EXPECT_THAT(error(), Optional(HasSubstr("groups that do not fit")));
}

}  // namespace
}  // namespace fanin
