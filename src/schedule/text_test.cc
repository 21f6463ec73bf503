#include <gmock/gmock.h>

#include "fanin/error.h"
#include "fanin/schedule.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

TEST(ScheduleText, ReadsWhatItPrints) {
  for (const Schedule& schedule : schedules_of_all_shapes())
    EXPECT_EQ(parse_schedule(to_text(schedule)), schedule) << schedule.name;
}

TEST(ScheduleText, IsTheOneOfTheGoldenFiles) {
  EXPECT_EQ(to_text(reduce_of_3()),
            "schedule to_root goal=reduce root=1 ranks=3 helpers=0 chunks=1\n"
            "round\n"
            "1 [0,1) = 0 + 1 + 2\n");
}

TEST(ScheduleText, ForgivesSpacesAndEmptyLines) {
  const Schedule schedule = parse_schedule(
      "\n schedule  x goal=all_reduce ranks=1  helpers=0 chunks=1\n\nround \n 0 [ 0 , 1 )=0+0\n");
  ASSERT_EQ(schedule.rounds.size(), 1U);
  EXPECT_EQ(schedule.rounds[0][0], (Step{0, {0, 1}, {0, 0}}));
}

TEST(ScheduleText, BecomesJson) {
  EXPECT_EQ(to_json(reduce_of_3()),
            R"({"name":"to_root","goal":"reduce","root":1,"ranks":3,"helpers":0,"chunks":1,)"
            R"("rounds":[[{"to":1,"chunks":[0,1],"sources":[0,1,2]}]]})");
}

struct BadText {
  std::string text;
  std::string sentence;
};

TEST(ScheduleText, SaysWhichLineIsWrongAndWhatWasExpected) {
  const std::string head = "schedule x goal=all_reduce ranks=2 helpers=0 chunks=2\n";
  const std::vector<BadText> cases = {
      {"", "the schedule is empty"},
      {"ring\n", "line 1 of the schedule: expected \"schedule \", found \"ring\""},
      {"schedule x goal=gossip ranks=2 helpers=0 chunks=1\n",
       "there is no goal \"gossip\"; known are: all_reduce, reduce, broadcast"},
      {"schedule x goal=all_reduce ranks=0 helpers=0 chunks=1\n",
       "line 1 of the schedule: expected a whole number from 1 to 65536"},
      {"schedule x goal=all_reduce ranks=99999999999 helpers=0 chunks=1\n",
       "expected a whole number from 1 to 65536"},
      {"schedule x goal=all_reduce ranks=2 helpers=0 chunks=1 more\n",
       "line 1 of the schedule: expected the end of the line, found \"more\""},
      {head + "0 [0,1) = 0\n", "line 2 of the schedule: expected \"round\" before the first step"},
      {head + "round\n0 [0,1 = 0\n", "line 3 of the schedule: expected \")\", found \"= 0\""},
      {head + "round\n0 [0,1) = 0 +\n", "line 3 of the schedule: expected a whole number"},
      {head + "round\n0 [0,1) = \n", "line 3 of the schedule: expected a whole number"},
  };
  for (const BadText& bad : cases) {
    try {
      parse_schedule(bad.text);
      ADD_FAILURE() << "accepted: " << bad.text;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadSchedule);
      EXPECT_THAT(error.what(), testing::HasSubstr(bad.sentence));
    }
  }
}

}  // namespace
}  // namespace fanin
