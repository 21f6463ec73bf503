#include "schedule/message_program.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "schedule/reshape.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

using testing::HasSubstr;
using testing::Optional;
using Fold = MessageProgram::Fold;
using Receive = MessageProgram::Receive;
using Send = MessageProgram::Send;

/// The actions of a place as letters, to compare at a glance.
std::string letters(const MessageProgram& program, std::size_t place) {
  std::string result;
  for (const auto& action : program.places[place]) result += "SRF"[action.index()];
  return result;
}

TEST(LowerToMessages, IsProvedForEveryShapeAndGoal) {
  for (const Schedule& schedule : schedules_of_all_shapes()) {
    EXPECT_EQ(find_error(lower_to_messages(schedule), schedule), std::nullopt) << schedule.name;
    if (schedule.rank_count > 33 || schedule.goal != Goal::kAllReduce) continue;
    for (const Goal goal : all_goals()) {
      const Schedule derived = for_goal(schedule, goal, 0);
      EXPECT_EQ(find_error(lower_to_messages(derived), derived), std::nullopt)
          << name(goal) << " of " << schedule.name;
    }
  }
}

TEST(LowerToMessages, SendsAndReceivesOnceARoundInARing) {
  const MessageProgram program = lower_to_messages(ring_of_3());
  for (std::size_t rank = 0; rank < 3; ++rank) {
    std::string sorted = letters(program, rank);
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, "FFRRRRSSSS") << "two adds; results go straight into the output";
    EXPECT_EQ(program.scratch_counts[rank], 1) << "the partial sum on its way";
    EXPECT_EQ(program.slot_counts[rank], 1) << "used again in the second round";
  }
}

TEST(LowerToMessages, FinishesWhereEveryInputIsThereFirst) {
  const MessageProgram program = lower_to_messages(tree_of_4());
  EXPECT_EQ(letters(program, 0), "RFRFSSS");
  const auto& first = std::get<Fold>(program.places[0][1]);
  const auto& second = std::get<Fold>(program.places[0][3]);
  EXPECT_FALSE(first.operation.finishes);
  EXPECT_TRUE(second.operation.finishes);
  EXPECT_EQ(std::get<Receive>(program.places[0][2]).cargo[0].cell, Cell::kPartial) << "2 + 3";
  EXPECT_EQ(std::get<Send>(program.places[0][4]).cargo[0].cell, Cell::kResult);
  EXPECT_EQ(letters(program, 3), "SR");
}

TEST(LowerToMessages, TalksToTheNextNeighbourFirst) {
  const Schedule schedule =
      parse_schedule(R"(schedule direct goal=reduce_scatter ranks=4 helpers=0 chunks=4
round
0 [0,1) = 0 + 1 + 2 + 3
1 [1,2) = 0 + 1 + 2 + 3
2 [2,3) = 0 + 1 + 2 + 3
3 [3,4) = 0 + 1 + 2 + 3
)");
  const MessageProgram program = lower_to_messages(schedule);
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<int> peers;
    for (const auto& action : program.places[static_cast<std::size_t>(rank)])
      if (const auto* send = std::get_if<Send>(&action)) peers.push_back(send->peer);
    EXPECT_THAT(peers, testing::ElementsAre((rank + 1) % 4, (rank + 2) % 4, (rank + 3) % 4));
  }
}

TEST(LowerToMessages, EndsWhereTwoPlacesExchangeSeveralMessagesInARound) {
  // All sends before all receives would wait forever with one message a link.
  const Schedule schedule =
      parse_schedule(R"(schedule swap goal=all_reduce ranks=2 helpers=0 chunks=4
round
0 [0,1) = 0 + 1
0 [1,2) = 0 + 1
0 [2,3) = 0 + 1
0 [3,4) = 0 + 1
1 [0,1) = 0 + 1
1 [1,2) = 0 + 1
1 [2,3) = 0 + 1
1 [3,4) = 0 + 1
)");
  EXPECT_EQ(find_error(lower_to_messages(schedule), schedule), std::nullopt);
}

TEST(LowerToMessages, KeepsWhatIsOnlyPassedOnWhereItCame) {
  const Schedule schedule =
      parse_schedule(R"(schedule line goal=reduce root=2 ranks=3 helpers=1 chunks=1
round
3 [0,1) = 0
round
2 [0,1) = 3 + 1 + 2
)");
  const MessageProgram program = lower_to_messages(schedule);
  EXPECT_EQ(find_error(program, schedule), std::nullopt);
  EXPECT_EQ(letters(program, 3), "RS");
  EXPECT_EQ(program.scratch_counts[3], 0);
}

// One broken program for each sentence that the proof promises.

class MessageProof : public testing::Test {
 protected:
  std::optional<std::string> error() const { return find_error(program, schedule); }

  template <typename Kind>
  Kind& find(std::size_t place, int which) {
    for (auto& action : program.places[place])
      if (auto* found = std::get_if<Kind>(&action))
        if (which-- == 0) return *found;
    throw std::out_of_range("there are not so many actions of this kind");
  }

  Schedule schedule = ring_of_3();
  MessageProgram program = lower_to_messages(schedule);
};

TEST_F(MessageProof, SeesAProgramForOthers) {
  program.slot_counts.pop_back();
  EXPECT_THAT(error(), Optional(HasSubstr("the program is not for 3 places")));
}

TEST_F(MessageProof, SeesAnInputThatIsWritten) {
  find<Fold>(0, 0).operation.targets = {{Ref::Kind::kInput, 0, 0}};
  EXPECT_THAT(error(), Optional(HasSubstr("writes the input of rank 0")));
}

TEST_F(MessageProof, SeesAnInputThatAMessageOverwrites) {
  find<Receive>(1, 0).cargo[0].memory = {Ref::Kind::kInput, 1, 0};
  EXPECT_THAT(error(), Optional(HasSubstr("writes the input of rank 1")));
}

TEST_F(MessageProof, SeesScratchThatIsNotCounted) {
  program.scratch_counts[2] = 0;
  EXPECT_THAT(error(), Optional(HasSubstr("writes scratch 0, which is not counted")));
}

TEST_F(MessageProof, SeesASlotThatIsNotCounted) {
  program.slot_counts[2] = 0;
  EXPECT_THAT(error(), Optional(HasSubstr("writes slot 0, which is not counted")));
}

TEST_F(MessageProof, SeesMemoryThatIsReadBeforeItIsWritten) {
  find<Fold>(0, 0).operation.sources[0].index = 7;
  EXPECT_THAT(error(), Optional(HasSubstr("reads slot 7 before it is written")));
}

TEST_F(MessageProof, SeesASlotThatIsUsedAgainBeforeItsLastReader) {
  schedule = servers_for_3();
  schedule.rounds[0][1].to = 3;  // one helper sums both chunks
  for (Step& step : schedule.rounds[1]) step.sources = {3};
  program = lower_to_messages(schedule);
  ASSERT_EQ(error(), std::nullopt);
  for (auto& action : program.places[3])
    if (auto* receive = std::get_if<Receive>(&action)) receive->cargo[0].memory.index = 0;
  EXPECT_THAT(error(), Optional(HasSubstr("which was used again for chunk")));
}

TEST_F(MessageProof, SeesASlotThatIsUsedAgainForTheSameChunk) {
  schedule = reduce_of_3();
  program = lower_to_messages(schedule);
  ASSERT_EQ(program.slot_counts[1], 2);
  find<Receive>(1, 1).cargo[0].memory.index = 0;
  for (Ref& source : find<Fold>(1, 0).operation.sources) source.index = 0;
  EXPECT_THAT(error(), Optional(HasSubstr("is another sum than the schedule's")));
}

TEST_F(MessageProof, SeesMemoryOfAnotherPlace) {
  find<Fold>(0, 0).operation.sources[0].rank = 1;
  EXPECT_THAT(error(), Optional(HasSubstr("reads memory of place 1")));
}

TEST_F(MessageProof, SeesAWriteToAnotherPlace) {
  find<Fold>(0, 0).operation.targets[0].rank = 1;
  EXPECT_THAT(error(), Optional(HasSubstr("writes memory of place 1")));
}

TEST_F(MessageProof, SeesAnInputThatIsNotThere) {
  schedule = broadcast_of_3();
  program = lower_to_messages(schedule);
  find<Fold>(0, 0).operation.sources = {{Ref::Kind::kInput, 0, 0}};
  EXPECT_THAT(error(), Optional(HasSubstr("reads an input in chunk 0, where it has none")));
}

TEST_F(MessageProof, SeesAFinishedSumThatIsAddedTo) {
  auto& fold = find<Fold>(2, 0);
  fold.operation.finishes = true;
  EXPECT_NE(error(), std::nullopt) << "what is sent would be a result, not a partial";
  program = lower_to_messages(schedule);
  program.places[0].emplace_back(Fold{0,
                                      {{{Ref::Kind::kScratch, 0, 0}},
                                       {{Ref::Kind::kOutput, 0, 0}, {Ref::Kind::kInput, 0, 0}},
                                       {},
                                       false}});
  EXPECT_THAT(error(), Optional(HasSubstr("something is added to a finished sum")));
}

TEST_F(MessageProof, SeesGroupsThatDoNotFit) {
  find<Fold>(0, 0).operation.group_sizes = {3};
  EXPECT_THAT(error(), Optional(HasSubstr("the groups do not fit the sources")));
}

TEST_F(MessageProof, SeesAMessageThatIsNeverReceived) {
  auto& send = find<Send>(0, 3);
  Send another = send;
  ++another.number;
  program.places[0].emplace_back(another);
  EXPECT_THAT(error(),
              Optional(HasSubstr("place 0 sends message 4 to place 1, which never receives it")));
}

TEST_F(MessageProof, SeesAMessageThatIsNeverSent) {
  Receive another = find<Receive>(1, 3);
  ++another.number;
  program.places[1].emplace_back(another);
  EXPECT_THAT(error(), Optional(HasSubstr("it never ends: place 1, action 10 waits forever")));
}

TEST_F(MessageProof, SeesMessagesInAnotherOrder) {
  std::swap(find<Receive>(1, 0), find<Receive>(1, 1));
  EXPECT_THAT(error(), Optional(HasSubstr("from place 0, which sends message 0 with chunks")));
}

TEST_F(MessageProof, SeesOtherChunksAtTheOtherEnd) {
  schedule = tree_of_4();
  schedule.chunk_count = 2;
  for (Round& round : schedule.rounds)
    for (Step& step : round) step.chunks = {0, 2};
  program = lower_to_messages(schedule);
  ASSERT_EQ(error(), std::nullopt);
  find<Receive>(0, 0).chunks = {0, 1};
  EXPECT_THAT(error(), Optional(HasSubstr("the message has 1 chunks and memory for 2")));
  find<Receive>(0, 0).cargo.pop_back();
  EXPECT_THAT(error(), Optional(HasSubstr("receives message 0 with chunks [0,1) from place 1, "
                                          "which sends message 0 with chunks [0,2)")));
  find<Receive>(0, 0).chunks = {1, 3};
  EXPECT_THAT(error(), Optional(HasSubstr("[1,3) is not a range of the 2 chunks")));
}

TEST_F(MessageProof, SeesAWrongNumberOnALink) {
  find<Send>(0, 1).number = 0;
  EXPECT_THAT(error(), Optional(HasSubstr("sends message 0 to place 1 where 1 is next")));
}

TEST_F(MessageProof, SeesALinkToNobody) {
  find<Send>(0, 0).peer = 3;
  EXPECT_THAT(error(), Optional(HasSubstr("there is no link to place 3")));
  find<Send>(0, 0).peer = 0;
  EXPECT_THAT(error(), Optional(HasSubstr("there is no link to place 0")));
}

TEST_F(MessageProof, SeesPlacesThatWaitForEachOther) {
  // Everybody receives before it has sent anything.
  for (auto& actions : program.places)
    std::ranges::stable_partition(
        actions, [](const auto& action) { return std::holds_alternative<Receive>(action); });
  EXPECT_THAT(error(), Optional(HasSubstr("it never ends")));
}

TEST_F(MessageProof, SeesPlacesThatSendMoreThanALinkHolds) {
  schedule = parse_schedule(R"(schedule swap goal=all_reduce ranks=2 helpers=0 chunks=2
round
0 [0,1) = 0 + 1
0 [1,2) = 0 + 1
1 [0,1) = 0 + 1
1 [1,2) = 0 + 1
)");
  program = lower_to_messages(schedule);
  ASSERT_EQ(error(), std::nullopt);
  for (auto& actions : program.places)
    std::ranges::stable_partition(
        actions, [](const auto& action) { return std::holds_alternative<Send>(action); });
  EXPECT_THAT(error(), Optional(HasSubstr("it never ends")));
}

TEST_F(MessageProof, SeesAMessageOfAnotherKind) {
  find<Send>(0, 0).cargo[0].cell = Cell::kPartial;
  EXPECT_THAT(error(), Optional(HasSubstr("sends something else of chunk")));
  program = lower_to_messages(schedule);
  find<Receive>(0, 0).cargo[0].cell = Cell::kPartial;
  EXPECT_THAT(error(), Optional(HasSubstr("receives something else of chunk")));
}

TEST_F(MessageProof, SeesAnOutputThatIsNotFinished) {
  find<Receive>(0, 0).cargo[0].memory = {Ref::Kind::kOutput, 0, 0};
  EXPECT_THAT(error(), Optional(HasSubstr("writes an output that is not finished")));
}

TEST_F(MessageProof, SeesAnOutputThatIsWrittenTwice) {
  auto& actions = program.places[0];
  const auto last_fold = std::ranges::find_if(
      actions.rbegin(), actions.rend(), [](const auto& action) { return action.index() == 2; });
  actions.insert(last_fold.base(), *last_fold);
  EXPECT_THAT(error(), Optional(HasSubstr("writes its output of chunk 1 twice")));
}

TEST_F(MessageProof, SeesAnOutputThatIsNeverWritten) {
  schedule = reduce_of_3();
  program = lower_to_messages(schedule);
  program.places[1].pop_back();
  EXPECT_THAT(error(), Optional(HasSubstr("chunk 0: the output of rank 1 is never written")));
}

TEST_F(MessageProof, SeesAnotherSum) {
  schedule = reduce_of_3();
  program = lower_to_messages(schedule);
  auto& sources = find<Fold>(1, 0).operation.sources;
  std::swap(sources[0], sources[1]);
  EXPECT_THAT(error(), Optional(HasSubstr("is another sum than the schedule's")));
}

TEST_F(MessageProof, SeesAChunkThatIsNotThere) {
  find<Fold>(0, 0).chunk = 3;
  EXPECT_THAT(error(), Optional(HasSubstr("there is no chunk 3")));
}

TEST_F(MessageProof, SeesAnOutputOfAHelper) {
  schedule = servers_for_3();
  program = lower_to_messages(schedule);
  find<Fold>(3, 0).operation.targets = {{Ref::Kind::kOutput, 3, 0}};
  EXPECT_THAT(error(), Optional(HasSubstr("writes an output, but a helper has none")));
}

}  // namespace
}  // namespace fanin
