#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;

class PriceCommand : public ToolTest {
 protected:
  static std::vector<std::string> arguments(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"price", "--bytes", "1000", "--latency-us",
                                    "10",    "--gbps",  "8"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(PriceCommand, SimulatesOneAlgorithm) {
  // 8 gigabits a second are 1000 bytes in a microsecond: 6 hops of 10.25 us.
  const auto json =
      nlohmann::json::parse(run(arguments({"xring", "--workers", "4", "--json"})).out);
  ASSERT_EQ(json.at("prices").size(), 1U);
  const auto& ring = json.at("prices").at(0);
  EXPECT_EQ(ring.at("algorithm"), "ring");
  EXPECT_NEAR(ring.at("seconds").get<double>(), 6 * 10.25e-6, 1e-12);
  EXPECT_NEAR(ring.at("latency_share").get<double>(), 10 / 10.25, 1e-9);
  EXPECT_EQ(ring.at("hops"), 6);
  EXPECT_EQ(ring.at("messages"), 24);
  EXPECT_NEAR(ring.at("most_sent_bytes").get<double>(), 1500, 1e-6);
  EXPECT_THAT(run(arguments({"ring", "--workers", "4"})).out,
              HasSubstr("ring                    61.5 us          97.6%      6         24"));
}

TEST_F(PriceCommand, SortsAllAlgorithmsWhenNoneIsNamed) {
  const auto json = nlohmann::json::parse(run(arguments({"--workers", "16", "--json"})).out);
  const auto& prices = json.at("prices");
  EXPECT_EQ(prices.size(), 9U);
  for (std::size_t i = 1; i < prices.size(); ++i)
    EXPECT_LE(prices.at(i - 1).at("seconds"), prices.at(i).at("seconds"));
  EXPECT_EQ(prices.back().at("algorithm"), "relay") << "30 hops of so few bytes, as the ring's";
  EXPECT_THAT(run(arguments({"--workers", "16"})).out,
              HasSubstr("all_reduce of 1 kB among 16 ranks, links of 10 us and 8 gigabits"));
}

TEST_F(PriceCommand, TakesGoalsRootsAndBlocks) {
  const auto seconds = [&](const std::vector<std::string>& more) {
    return nlohmann::json::parse(run(arguments(more)).out)
        .at("prices")
        .at(0)
        .at("seconds")
        .get<double>();
  };
  EXPECT_NEAR(
      seconds({"one_device", "--workers", "3", "--goal", "reduce", "--root", "0", "--json"}), 12e-6,
      1e-12)
      << "two inputs one after the other";
  EXPECT_NEAR(seconds({"recursive_doubling", "--workers", "4", "--blocks", "4", "--json"}),
              20e-6 + 1.25e-6, 1e-12)
      << "the second step of a block follows while the first of the next is under way";
}

TEST_F(PriceCommand, RefusesWhatCannotBe) {
  expect_sentence({"price", "ring", "--bytes", "4X", "--latency-us", "1", "--gbps", "1"}, 2,
                  "\"4X\" is not a size; use a number of bytes, or one with K, M, G or T such as "
                  "1.5G");
  expect_sentence({"price", "ring", "--bytes", "4", "--latency-us", "-1", "--gbps", "1"}, 2,
                  "--latency-us -1 cannot be; a latency is 0 or more microseconds");
  expect_sentence({"price", "ring", "--bytes", "4", "--latency-us", "1", "--gbps", "0"}, 2,
                  "--gbps 0 cannot be; a bandwidth is more than 0 gigabits a second");
  expect_sentence(arguments({"ring", "--blocks", "0"}), 2,
                  "0 blocks cannot be; there are from 1 to 4096");
  expect_sentence(arguments({"ring", "--workers", "513"}), 2,
                  "513 ranks are too many to price; the most are 512");
  expect_sentence({"price", "ring", "--latency-us", "1", "--gbps", "1"}, 2,
                  "--bytes is required; see fanin price --help");
  EXPECT_EQ(run(arguments({"rnig"})).exit_code, 2);
}

}  // namespace
}  // namespace fanin
