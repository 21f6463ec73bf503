#include "distribute/host_levels.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace fanin {
namespace {

using Hosts = std::vector<int>;

/// Copies of a chunk that go from one host to another.
int crossings_of(const Schedule& schedule, const Hosts& hosts) {
  int count = 0;
  for (const Round& round : schedule.rounds)
    for (const Step& step : round)
      for (const int source : std::set<int>(step.sources.begin(), step.sources.end()))
        if (hosts[static_cast<std::size_t>(source)] != hosts[static_cast<std::size_t>(step.to)])
          count += step.chunks.last - step.chunks.first;
  return count;
}

TEST(HostLevels, TheWireIsCrossedAsLittleAsTheLevelsAllow) {
  for (const Hosts& hosts : {Hosts{0, 0, 2, 2}, Hosts{0, 1, 0, 1}, Hosts{0, 1, 1, 0}})
    for (const char* algorithm : {"direct/ring", "direct//ring"}) {
      const Schedule schedule = build_for_hosts(algorithm, hosts, Goal::kAllReduce, std::nullopt);
      EXPECT_EQ(find_error(schedule), std::nullopt);
      // Each host sends all the data once.
      EXPECT_EQ(crossings_of(schedule, hosts), 2 * schedule.chunk_count) << algorithm;
    }
}

TEST(HostLevels, AlgorithmsOfOneLevelKnowNoHosts) {
  for (const char* algorithm : {"direct", "ring", "shuffle"})
    EXPECT_EQ(build_for_hosts(algorithm, Hosts{0, 1, 0, 1}, Goal::kAllReduce, std::nullopt),
              build_for_hosts(algorithm, Hosts{0, 0, 0, 0}, Goal::kAllReduce, std::nullopt));
}

TEST(HostLevels, UnevenHostsHaveNoLevels) {
  EXPECT_EQ(build_for_hosts("direct/ring", Hosts{0, 0, 2}, Goal::kAllReduce, std::nullopt),
            build_for_hosts("direct/ring", Hosts{0, 0, 0}, Goal::kAllReduce, std::nullopt));
}

TEST(HostLevels, OnlyAlgorithmsOfTwoLevelsSeeHosts) {
  EXPECT_EQ(topology_for("direct//ring", Hosts{0, 0, 0, 3, 3, 3}), (Topology{2, 3}));
  EXPECT_EQ(topology_for("ring", Hosts{0, 0, 0, 3, 3, 3}), (Topology{6, 1}));
  EXPECT_EQ(topology_for("direct/ring", Hosts{0, 0, 2}), (Topology{3, 1}));
  EXPECT_EQ(topology_for("direct/ring", Hosts{0, 0}), (Topology{2, 1}));
}

TEST(HostLevels, OtherGoalsAreProvedToo) {
  for (const Goal goal : all_goals())
    for (const Hosts& hosts : {Hosts{0, 0, 2, 2}, Hosts{0, 1, 0, 1}})
      EXPECT_EQ(find_error(build_for_hosts("direct//ring", hosts, goal, std::nullopt)),
                std::nullopt)
          << name(goal);
}

/// Each rank by itself.
Hosts hosts_apart(std::size_t count) {
  Hosts hosts(count);
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

TEST(HostLevels, TheAutomaticAlgorithmFollowsTheHosts) {
  const auto of = [](const Hosts& hosts, std::size_t bytes = 1000, Goal goal = Goal::kAllReduce) {
    return choose_algorithm({hosts, hosts_apart(hosts.size())}, goal, bytes);
  };
  EXPECT_EQ(of({0, 0, 0}), "direct");
  EXPECT_EQ(of({0, 0, 2, 2}), "direct//recursive_doubling");
  EXPECT_EQ(of({0, 0, 2, 2}, 256 << 10), "direct//recursive_doubling");
  EXPECT_EQ(of({0, 0, 2, 2}, (256 << 10) + 1), "direct//ring");
  EXPECT_EQ(of({0, 0, 2, 2}, 1000, Goal::kReduceScatter), "direct//ring");
  EXPECT_EQ(of({0, 0, 2, 2, 4, 4}), "direct//ring");
  EXPECT_EQ(of({0, 1}), "recursive_doubling");
  EXPECT_EQ(of({0, 1, 2}), "ring");
  EXPECT_EQ(of({0, 0, 2}), "ring");
  const auto all = [](const Hosts& hosts) {
    return choose_algorithms({hosts, hosts_apart(hosts.size())});
  };
  EXPECT_EQ(all({0, 0, 2, 2}).usual, "direct//ring");
  EXPECT_EQ(all({0, 0, 2, 2}).short_all_reduce, "direct//recursive_doubling");
  EXPECT_EQ(all({0, 0, 2, 2}).long_all_reduce, "direct//ring");
  EXPECT_EQ(all({0, 0, 0}).short_all_reduce, "direct");
}

TEST(HostLevels, TheAutomaticAlgorithmOfRanksThatShareCoresIsARelay) {
  const auto of_long = [](const Hosts& hosts, const std::vector<int>& cores) {
    return choose_algorithms({hosts, cores}).long_all_reduce;
  };
  EXPECT_EQ(of_long({0, 0, 0, 0}, {0, 1, 0, 1}), "relay");
  EXPECT_EQ(of_long({0, 0, 0}, {0, 0, 0}), "relay") << "all on one core";
  EXPECT_EQ(of_long({0, 0, 0, 0}, {0, 1, 2, 3}), "direct");
  EXPECT_EQ(of_long({0, 0, 0}, {0, 0, 2}), "direct") << "not as many on each";
  EXPECT_EQ(of_long({0, 0, 2, 2}, {0, 0, 2, 2}), "direct//ring") << "hosts come first";
  EXPECT_EQ(choose_algorithms({{0, 0, 0, 0}, {0, 1, 0, 1}}).short_all_reduce, "direct");
  EXPECT_EQ(choose_algorithms({{0, 0, 0, 0}, {0, 1, 0, 1}}).usual, "direct");
}

TEST(HostLevels, ARelayGoesFromCoreToCore) {
  const Whereabouts ranks{{0, 0, 0, 0}, {0, 1, 0, 1}};
  EXPECT_EQ(levels_for("relay", ranks), ranks.cores);
  EXPECT_EQ(levels_for("direct//ring", ranks), ranks.hosts);
  EXPECT_EQ(levels_for("relay", {{0, 0, 2, 2}, {0, 1, 2, 3}}), (Hosts{0, 0, 2, 2}));
  EXPECT_EQ(to_text(build_for_hosts("relay", ranks.cores, Goal::kAllReduce, std::nullopt)),
            R"(schedule relay goal=all_reduce ranks=4 helpers=0 chunks=2
round
2 [0,1) = 0 + 2
3 [1,2) = 1 + 3
round
1 [0,1) = 2 + 1
0 [1,2) = 3 + 0
round
3 [0,1) = 1 + 3
2 [1,2) = 0 + 2
round
0 [0,1) = 3
1 [1,2) = 2
round
2 [0,1) = 0
3 [1,2) = 1
round
1 [0,1) = 2
0 [1,2) = 3
)");
}

}  // namespace
}  // namespace fanin
