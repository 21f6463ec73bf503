#include <gmock/gmock.h>

#include "fanin/schedule.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

using testing::Optional;

TEST(FindError, FindsNoneInSchedulesOfAllShapes) {
  for (const Schedule& schedule : schedules_of_all_shapes())
    EXPECT_EQ(find_error(schedule), std::nullopt) << schedule.name;
}

// One broken schedule for each sentence that the proof promises.

TEST(FindError, SeesASourceThatHoldsNothing) {
  Schedule broken = servers_for_3();
  broken.rounds[0].erase(broken.rounds[0].begin());
  EXPECT_THAT(find_error(broken),
              Optional(std::string(
                  "servers: round 1, chunk 0: rank 0 reads a place that holds nothing yet")));
}

TEST(FindError, SeesTwoStepsThatWriteOneCell) {
  Schedule broken = ring_of_3();
  broken.rounds[0].push_back({1, {0, 1}, {1, 0}});
  EXPECT_THAT(find_error(broken),
              Optional(std::string("ring: round 0, chunk 0: two steps write rank 1")));
}

TEST(FindError, SeesAnInputThatIsMissing) {
  Schedule broken = tree_of_4();
  broken.rounds[0].pop_back();
  EXPECT_THAT(find_error(broken),
              Optional(std::string("tree: rank 0 ends with the input of rank 3 0 times in chunk 0, "
                                   "not once")));
}

TEST(FindError, SeesAnInputThatIsCountedTwice) {
  Schedule broken = tree_of_4();
  broken.rounds[1].front().sources = {0, 2, 3};
  EXPECT_THAT(find_error(broken),
              Optional(std::string("tree: rank 0 ends with the input of rank 3 2 times in chunk 0, "
                                   "not once")));
}

TEST(FindError, SeesOrdersThatDiffer) {
  Schedule broken = everyone_of_20();
  std::swap(broken.rounds[0][7].sources[3], broken.rounds[0][7].sources[4]);
  EXPECT_THAT(find_error(broken),
              Optional(std::string("everyone: ranks 0 and 7 sum chunk 0 in different orders, so "
                                   "their bits may differ")));
}

TEST(FindError, SeesARankThatIsLeftOut) {
  Schedule broken = broadcast_of_3();
  broken.rounds[0].pop_back();
  EXPECT_THAT(find_error(broken),
              Optional(std::string("from_root: rank 1 ends with nothing in chunk 0")));
}

struct Malformed {
  std::string what;
  std::string sentence;
  void (*damage)(Schedule&);
};

class FindErrorOfMalformed : public testing::TestWithParam<Malformed> {};

TEST_P(FindErrorOfMalformed, SaysWhatIsWrong) {
  Schedule broken = ring_of_3();
  GetParam().damage(broken);
  EXPECT_THAT(find_error(broken), Optional(testing::HasSubstr(GetParam().sentence)));
}

INSTANTIATE_TEST_SUITE_P(
    Every, FindErrorOfMalformed,
    testing::Values(Malformed{"Name", "is one word", [](Schedule& s) { s.name = "two words"; }},
                    Malformed{"NoRanks", "has 0 ranks", [](Schedule& s) { s.rank_count = 0; }},
                    Malformed{"Helpers", "has -1 helpers",
                              [](Schedule& s) { s.helper_count = -1; }},
                    Malformed{"NoChunks", "has 0 chunks", [](Schedule& s) { s.chunk_count = 0; }},
                    Malformed{"RootOfAllReduce", "has no root", [](Schedule& s) { s.root = 1; }},
                    Malformed{"RootMissing", "needs a root from 0 to 2",
                              [](Schedule& s) { s.goal = Goal::kReduce; }},
                    Malformed{"Place", "there is no such place; the last one is 2",
                              [](Schedule& s) { s.rounds[0][0].to = 3; }},
                    Malformed{"Chunk", "[0,4) is not a range of the 3 chunks",
                              [](Schedule& s) { s.rounds[0][0].chunks.last = 4; }},
                    Malformed{"EmptyRange", "[1,1) is not a range",
                              [](Schedule& s) {
                                s.rounds[0][0].chunks = {1, 1};
                              }},
                    Malformed{"NoSource", "the step has no source",
                              [](Schedule& s) { s.rounds[0][0].sources = {}; }},
                    Malformed{"Source", "source -1 is no place",
                              [](Schedule& s) { s.rounds[0][0].sources[0] = -1; }}),
    [](const auto& malformed) { return malformed.param.what; });

TEST(FindError, CountsInputsThatDoubleInEveryRound) {
  Schedule schedule{.name = "doubling", .rank_count = 1, .chunk_count = 1};
  for (int round = 0; round < 70; ++round) schedule.rounds.push_back({{0, {0, 1}, {0, 0}}});
  EXPECT_THAT(find_error(schedule), testing::Optional(testing::HasSubstr(
                                        "the input of rank 0 1000000 times in chunk 0, not once")));
}

}  // namespace
}  // namespace fanin
