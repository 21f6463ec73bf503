#include <gmock/gmock.h>

#include <vector>

#include "fanin/schedule.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

/// Whether every element that is opened is closed, in order, and nothing stands in a tag that
/// cannot. Enough for what to_svg() writes: no comments, no "<" in attributes.
bool is_well_formed(std::string_view xml) {
  std::vector<std::string_view> open;
  for (std::size_t at = xml.find('<'); at != std::string_view::npos; at = xml.find('<', at)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string_view::npos) return false;
    const std::string_view tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string_view::npos || count_of(tag, "\"") % 2 != 0) return false;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end;
  }
  return open.empty();
}

TEST(SchedulePicture, IsOneElementWhateverTheSchedule) {
  for (const Schedule& schedule : schedules_of_all_shapes()) {
    const std::string svg = to_svg(schedule);
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")) << schedule.name;
    EXPECT_THAT(svg, HasSubstr(" viewBox=\"0 0 "));
    EXPECT_TRUE(is_well_formed(svg)) << schedule.name;
    EXPECT_THAT(svg, Not(HasSubstr("href"))) << "it needs nothing else";
  }
}

TEST(SchedulePicture, ShowsEveryStepOnceAndTellsSumsFromCopies) {
  const Schedule schedule = ring_of_3();
  const std::string svg = to_svg(schedule);
  for (const char* step : {"1 [0,1) = 0 + 1", "0 [2,3) = 2 + 0", "2 [1,2) = 1"})
    EXPECT_EQ(count_of(svg, std::string("<title>") + step + "</title>"), 1U) << step;
  const std::size_t legend = 1;
  EXPECT_EQ(count_of(svg, "<g class=\"sum\">"), 6 + legend);
  EXPECT_EQ(count_of(svg, "<g class=\"copy\">"), 6 + legend);
}

TEST(SchedulePicture, NamesPlacesRoundsAndChunks) {
  const std::string svg = to_svg(servers_for_3());
  for (const char* text :
       {">servers: all_reduce of 3 ranks, 2 helpers; the data in 2 chunks<",
        ">2 rounds, 12 messages; the busiest place sends 1.5 times the data<", ">rank 0<",
        ">rank 2<", ">helper 0<", ">helper 1<", ">round 0<", ">round 1<", ">+ 1<"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, Not(HasSubstr(">rank 3<")));
  EXPECT_THAT(svg, Not(HasSubstr(">round 2<")));
  EXPECT_THAT(to_svg(reduce_of_3()), HasSubstr("reduce of 3 ranks, root 1; the data in 1 chunk<"));
}

TEST(SchedulePicture, WritesARangeByItsFirstAndLastChunk) {
  EXPECT_THAT(to_svg(parse_schedule("schedule x goal=broadcast root=0 ranks=2 helpers=0 chunks=8\n"
                                    "round\n1 [3,8) = 0\n")),
              HasSubstr(">3-7<"));
}

TEST(SchedulePicture, LeavesOutWhatHasNoRoom) {
  Schedule crowded{.name = "x", .rank_count = 2, .chunk_count = 40, .rounds = {{}}};
  for (int chunk = 0; chunk < 40; ++chunk)
    crowded.rounds[0].push_back({1, {chunk, chunk + 1}, {0}});
  EXPECT_THAT(to_svg(crowded), Not(HasSubstr(">39<")));
  EXPECT_THAT(to_svg(crowded), HasSubstr("<title>1 [39,40) = 0</title>"));
  const Schedule fine{.name = "x",
                      .rank_count = 2,
                      .chunk_count = 20'000,
                      .rounds = {{{1, {10'000, 20'000}, {0}}}}};
  EXPECT_THAT(to_svg(fine), Not(HasSubstr(">10000-19999<")));
}

TEST(SchedulePicture, HoldsAnyName) {
  const std::string svg = to_svg({.name = "<a&b>\x01\xff\"", .rank_count = 1, .chunk_count = 1});
  EXPECT_THAT(svg, HasSubstr("&lt;a&amp;b&gt;??&quot;: all_reduce of 1 rank;"));
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_THAT(svg, HasSubstr("There is nothing to do."));
}

TEST(SchedulePicture, SaysWhenItIsNotWhole) {
  EXPECT_THAT(to_svg(ring_of_3()), Not(HasSubstr("Too large")));
  const std::string svg = to_svg(two_levels_of_132());
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_THAT(svg, HasSubstr("Too large to be drawn whole: 68 of 144 steps are shown, of 3 rounds "
                             "and 132 places."));
  Schedule lengthy = ring_of_3();
  for (int i = 0; i < 10; ++i)
    lengthy.rounds.insert(lengthy.rounds.end(), lengthy.rounds.begin(), lengthy.rounds.end());
  EXPECT_LT(to_svg(lengthy).size(), 300'000U);
}

TEST(SchedulePicture, OfAScheduleThatTheProofRefusesIsStillAPicture) {
  const std::string svg = to_svg(parse_schedule(
      "schedule x goal=all_reduce ranks=2 helpers=0 chunks=1\nround\n9 [5,3) = 0\n0 [5,3) = 9\n"));
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_THAT(svg, HasSubstr("0 of 2 steps are shown"));
}

}  // namespace
}  // namespace fanin
