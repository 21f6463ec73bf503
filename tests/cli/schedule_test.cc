#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ScheduleCommand : public ToolTest {};

TEST_F(ScheduleCommand, PrintsTextOrJson) {
  const std::string text = run({"schedule", "direct", "--workers", "3"}).out;
  EXPECT_THAT(text, StartsWith("schedule direct goal=all_reduce ranks=3 helpers=0 chunks=3\n"));
  EXPECT_EQ(run({"schedule", "direct", "--workers", "3", "--devices", "1", "--text"}).out, text);
  const auto json =
      nlohmann::json::parse(run({"schedule", "direct", "--workers", "2", "--json"}).out);
  EXPECT_EQ(json.at("ranks"), 2);
  EXPECT_EQ(json.at("rounds").size(), 2U);
}

TEST_F(ScheduleCommand, CountsDevicesOfAllWorkers) {
  EXPECT_THAT(run({"schedule", "direct", "--workers", "3", "--devices", "2"}).out,
              HasSubstr("ranks=6"));
}

TEST_F(ScheduleCommand, SaysInJsonWhatItCosts) {
  const auto json =
      nlohmann::json::parse(run({"schedule", "ring", "--workers", "4", "--json"}).out);
  const auto& cost = json.at("cost");
  EXPECT_EQ(cost.at("rounds"), 6);
  EXPECT_EQ(cost.at("messages"), 24);
  EXPECT_EQ(cost.at("most_sent_chunks"), 6);
  EXPECT_EQ(cost.at("most_sent_share"), 1.5);
  EXPECT_EQ(cost.at("scratch_chunks"), 0);
  EXPECT_EQ(cost.at("links"), nlohmann::json::parse("[[0,1,6],[1,2,6],[2,3,6],[3,0,6]]"));
}

TEST_F(ScheduleCommand, DrawsAPicture) {
  const std::string svg = run({"schedule", "shuffle", "--workers", "3", "--svg"}).out;
  EXPECT_THAT(svg, StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, HasSubstr("shuffle: all_reduce of 3 ranks, 3 helpers"));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

TEST_F(ScheduleCommand, PrintsInOneWayOnly) {
  expect_sentence({"schedule", "ring", "--svg", "--text"}, 2,
                  "--text excludes --svg; see fanin schedule --help");
  EXPECT_THAT(run({"schedule", "ring", "--svg", "--json"}).err,
              HasSubstr("--json excludes --svg; see fanin schedule --help"));
}

TEST_F(ScheduleCommand, RefusesWhatCannotBe) {
  expect_sentence({"schedule", "rnig"}, 2,
                  "there is no algorithm \"rnig\"; known are: direct (nccl), ring (xring), relay, "
                  "halving_doubling (rechd), recursive_doubling, shuffle (pscpu, psgpu), "
                  "double_tree, hierarchical_copy, one_device; and two of them for two levels, as "
                  "in direct/ring or direct//ring");
  expect_sentence(
      {"schedule", "direct", "--workers", "0"}, 2,
      "there must be at least 1 worker and 1 device, got 0 workers with 1 devices each");
  expect_sentence({"schedule", "direct", "--workers", "100000"}, 2,
                  "100000 workers with 1 devices each are more than 2048 ranks");
}

class Verify : public ToolTest {};

TEST_F(Verify, ProvesEveryAlgorithm) {
  const ToolRun result = run({"verify", "--ranks", "9"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("direct: proved, 72 schedules"));
}

TEST_F(Verify, ProvesFilesAndSaysWhatIsWrongInThem) {
  write_text("good", run({"schedule", "direct", "--workers", "4"}).out);
  write_text("bad",
             "schedule lost goal=all_reduce ranks=2 helpers=0 chunks=1\nround\n0 [0,1) = 0 + 1\n");
  const ToolRun result = run({"verify", "good", "bad"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("good: proved, 1 schedule with 16 steps"));
  EXPECT_THAT(result.out, HasSubstr("bad: refused: lost: rank 1 ends with the input of rank 0 0 "
                                    "times in chunk 0, not once"));
  const auto json = nlohmann::json::parse(run({"verify", "good", "bad", "--json"}).out);
  EXPECT_EQ(json.at("verdicts").at(0).at("proved"), true);
  EXPECT_EQ(json.at("verdicts").at(1).at("proved"), false);
}

TEST_F(Verify, AnswersTheExampleAsItsDocumentSays) {
  std::ifstream file(std::string(FANIN_EXAMPLES) + "/chain.schedule");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string last_lines = "round\n0 [0,1) = 1\n";
  ASSERT_THAT(text, testing::EndsWith(last_lines));
  write_text("chain", text);
  write_text("short", text.substr(0, text.size() - last_lines.size()));
  EXPECT_THAT(run({"verify", "chain"}).out, StartsWith("chain: proved"));
  EXPECT_EQ(run({"verify", "short"}).out,
            "short: refused: chain: rank 0 ends with the input of rank 1 0 times in chunk 0, not "
            "once\n");
}

TEST_F(Verify, AnswersAFileThatIsNoScheduleWithASentence) {
  write_text("noise", "hello\n");
  write_text("empty", "");
  expect_sentence({"verify", "noise"}, 2,
                  "noise: line 1 of the schedule: expected \"schedule \", found \"hello\"");
  expect_sentence({"verify", "empty"}, 2,
                  "empty: the schedule is empty; its first line is for example \"schedule direct "
                  "goal=all_reduce ranks=2 helpers=0 chunks=2\"");
  expect_sentence({"verify", "nowhere"}, 2, "\"nowhere\" cannot be read; is it a file?");
  expect_sentence({"verify", "."}, 2, "\".\" cannot be read; is it a file?");
}

}  // namespace
}  // namespace fanin
