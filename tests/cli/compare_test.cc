#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "files/npy.h"
#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;

class Compare : public ToolTest {
 protected:
  nlohmann::json compare(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "compare");
    arguments.insert(arguments.end(), {"--rounds", "1", "--json"});
    const ToolRun result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }

  static nlohmann::json way(const nlohmann::json& answer, const std::string& method,
                            const std::string& accumulation) {
    for (const auto& each : answer.at("ways"))
      if (each.at("method") == method && each.at("accumulation") == accumulation) return each;
    ADD_FAILURE() << method << " " << accumulation << " is not there";
    return {};
  }
};

TEST_F(Compare, MeasuresEveryWay) {
  const auto answer = compare({"--terms", "9", "--shape", "100x30"});
  EXPECT_EQ(answer.at("ways").size(), 4U);
  EXPECT_EQ(answer.at("elements"), 3000);
  EXPECT_EQ(way(answer, "ADD_N", "wide").at("peak_bytes"), 10 * 12'000);
  EXPECT_EQ(way(answer, "EXPERIMENTAL_ACCUMULATE_N", "wide").at("peak_bytes"), 2 * 12'000);
  EXPECT_GT(way(answer, "EXPERIMENTAL_TREE", "wide").at("max_ulps"), 0);
  EXPECT_EQ(way(answer, "ADD_N", "exact").at("max_ulps"), 0);
  EXPECT_GT(way(answer, "ADD_N", "exact").at("seconds"), 0);
}

TEST_F(Compare, RoundsHalvesInTwoWays) {
  const auto answer = compare({"--terms", "33", "--shape", "5000", "--dtype", "bfloat16"});
  EXPECT_EQ(answer.at("ways").size(), 7U);
  EXPECT_GT(way(answer, "ADD_N", "native").at("mean_ulps"),
            way(answer, "ADD_N", "wide").at("mean_ulps"));
  EXPECT_EQ(answer.at("recommendation").at("accumulation"), "wide");
  EXPECT_THAT(answer.at("recommendation").at("reason").get<std::string>(),
              HasSubstr("Rounded at each step, 99 % would be within "));
}

TEST_F(Compare, RecommendsExactSumsWhereTermsCancel) {
  const auto ill = compare({"--distribution", "ill", "--shape", "20000"});
  EXPECT_EQ(ill.at("recommendation").at("accumulation"), "exact");
  EXPECT_THAT(ill.at("recommendation").at("reason").get<std::string>(),
              HasSubstr("The terms cancel"));
  const auto uniform = compare({"--distribution", "uniform", "--shape", "20000"});
  EXPECT_EQ(uniform.at("recommendation").at("accumulation"), "wide");
}

TEST_F(Compare, KeepsToTheBudget) {
  const auto few = compare({"--terms", "16", "--shape", "10000", "--memory", "100000"});
  EXPECT_EQ(few.at("recommendation").at("method"), "EXPERIMENTAL_ACCUMULATE_N");
  EXPECT_THAT(few.at("recommendation").at("reason").get<std::string>(),
              HasSubstr("of those that fit into 100 kB"));
  const auto none = compare({"--terms", "16", "--shape", "10000", "--memory", "1K"});
  EXPECT_THAT(none.at("recommendation").at("reason").get<std::string>(),
              HasSubstr("No way fits into 1.02 kB; this one holds the least"));
}

TEST_F(Compare, TakesFilesIntegersAndScalars) {
  write_npy(path("a.npy"), {Tensor::of<std::int32_t>({1, 2}, {2}), false});
  const auto files = compare({"a.npy", "a.npy", "a.npy"});
  EXPECT_EQ(files.at("terms"), 3);
  EXPECT_EQ(files.at("ways").size(), 3U);
  EXPECT_EQ(way(files, "EXPERIMENTAL_TREE", "wide").at("max_ulps"), 0);
  EXPECT_EQ(compare({"--shape", ""}).at("elements"), 1);
  EXPECT_EQ(compare({"--shape", "0"}).at("elements"), 0);
}

TEST_F(Compare, IsTheSameForTheSameSeed) {
  const auto error = [&](const char* seed) {
    const auto answer = compare({"--shape", "3000", "--seed", seed});
    return way(answer, "ADD_N", "wide").at("mean_ulps").get<double>();
  };
  EXPECT_EQ(error("1"), error("1"));
  EXPECT_NE(error("1"), error("2"));
}

TEST_F(Compare, WritesATableAndAPage) {
  const ToolRun result = run({"compare", "--shape", "1000", "--html", "page.html"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("tensor of shape [1000], normal, 8 float32 terms, 1000 elements"));
  EXPECT_THAT(result.out, HasSubstr("\nADD_N, exact  "));
  EXPECT_THAT(result.out, HasSubstr("\nUse "));
  EXPECT_THAT(result.out, HasSubstr("page.html: the same with pictures\n"));
  const std::string page = read_text("page.html");
  EXPECT_THAT(page, HasSubstr("Elements by error, against the exact sum"));
  EXPECT_THAT(page, HasSubstr("<title>ACCUMULATE_N: "));
}

TEST_F(Compare, RefusesWhatMakesNoSense) {
  expect_sentence({"compare", "a.npy"}, 2,
                  "one file has nothing to be added to; name at least two");
  expect_sentence({"compare", "a.npy", "b.npy", "--gradients", "resnet50"}, 2,
                  "compare either FILES or --gradients resnet50, not both");
  expect_sentence({"compare", "--gradients", "x"}, 2,
                  "\"x\" is not a model that is known; use resnet50 or bert-base");
  expect_sentence({"compare", "--distribution", "x"}, 2,
                  "\"x\" is not a distribution; use normal, uniform or ill");
  for (const char* shape : {"x", "3x", "3xx4", "-1", "3 4"})
    expect_sentence({"compare", std::string("--shape=") + shape}, 2,
                    "\"" + std::string(shape) + "\" is not a shape; use extents such as 1024x512");
  expect_sentence({"compare", "--terms", "0"}, 2, "--terms 0 is out of range; use 1 to 100000");
  expect_sentence({"compare", "--rounds", "0"}, 2, "--rounds 0 is out of range; use 1 or more");
  expect_sentence({"compare", "--html", "none/page.html"}, 2,
                  "cannot write none/page.html: there is no folder none");
}

}  // namespace
}  // namespace fanin
