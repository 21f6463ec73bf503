#include "schedule/message_graph.h"

#include <gmock/gmock.h>

#include "schedule/test_schedules.h"

namespace fanin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MessageGraph, SaysWhoWaitsForWhom) {
  const Schedule schedule = tree_of_4();
  const std::vector<Work> graph = graph_of(lower_to_messages(schedule), schedule);
  ASSERT_EQ(graph.size(), 9U) << "6 messages and 3 folds";
  // The first of each place, then 0's second and third; then the folds 0 + 1, all, 2 + 3.
  const auto link = [&](std::size_t i) { return std::pair(graph[i].from, graph[i].to); };
  EXPECT_EQ(link(0), std::pair(0, 1));
  EXPECT_EQ(link(1), std::pair(1, 0));
  EXPECT_EQ(link(2), std::pair(2, 0));
  EXPECT_EQ(link(3), std::pair(3, 2));
  EXPECT_THAT(graph[1].next, ElementsAre(6)) << "the input of 1 goes to the first fold";
  EXPECT_THAT(graph[6].next, ElementsAre(7));
  EXPECT_THAT(graph[7].next, ElementsAre(0, 4, 5)) << "the sum goes to all";
  EXPECT_THAT(graph[3].next, ElementsAre(8));
  EXPECT_THAT(graph[8].next, ElementsAre(2));
  EXPECT_THAT(graph[0].next, IsEmpty());
  EXPECT_EQ(graph[1].source_count, 0) << "an input is there at the start";
  EXPECT_EQ(graph[7].source_count, 2);
  EXPECT_FALSE(graph[7].crosses());
}

TEST(MessageGraph, KnowsThatAHelperIsAtItsRank) {
  const Schedule schedule = servers_for_3();
  int crossing = 0;
  for (const Work& work : graph_of(lower_to_messages(schedule), schedule))
    crossing += work.crosses() ? 1 : 0;
  EXPECT_EQ(crossing, 8) << "of 12 messages, 4 are between a rank and its own helper";
}

}  // namespace
}  // namespace fanin
