#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;

class RunCommand : public ToolTest {};

TEST_F(RunCommand, RunsEveryAlgorithmAndGoalAndChecksTheResult) {
  for (const std::string algorithm :
       {"direct", "xring", "rechd", "pscpu", "direct/ring", "nccl//xring"})
    for (const std::string goal : {"all_reduce", "reduce_scatter", "all_to_all"}) {
      const ToolRun result = run({"run", algorithm, "--workers", "2", "--devices", "3", "--goal",
                                  goal, "--bytes", "10K", "--shards", "2", "--repeat", "2"});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_THAT(result.out, HasSubstr("right on every rank"));
    }
}

TEST_F(RunCommand, AnswersScripts) {
  const auto json =
      nlohmann::json::parse(run({"run", "ring", "--workers", "3", "--bytes", "4K", "--dtype",
                                 "float16", "--op", "mean", "--literal", "--json"})
                                .out);
  EXPECT_EQ(json.at("schedule"), "ring");
  EXPECT_EQ(json.at("lowering"), "literal");
  EXPECT_EQ(json.at("elements"), 2048);
  EXPECT_EQ(json.at("bytes_moved"), 6 * 4096);
  EXPECT_EQ(json.at("right"), true);
}

TEST_F(RunCommand, RunsAScheduleFromAFile) {
  write_text("mine", run({"schedule", "double_tree", "--workers", "5"}).out);
  EXPECT_THAT(run({"run", "mine", "--bytes", "100K"}).out,
              HasSubstr("all_reduce by double_tree of 5 ranks"));
  write_text("bad",
             "schedule lost goal=all_reduce ranks=2 helpers=0 chunks=1\nround\n0 [0,1) = 0 + 1\n");
  expect_sentence({"run", "bad"}, 2,
                  "lost: rank 1 ends with the input of rank 0 0 times in chunk 0, not once");
}

TEST_F(RunCommand, RefusesWhatCannotBe) {
  expect_sentence({"run", "ring", "--goal", "gossip"}, 2,
                  "there is no goal \"gossip\"; known are: all_reduce, reduce, broadcast, "
                  "reduce_scatter, all_gather, gather, scatter, all_to_all");
  expect_sentence({"run", "ring", "--root", "0"}, 2,
                  "the goal all_reduce has no root, but root 0 was given");
  expect_sentence({"run", "ring", "--goal", "reduce", "--root", "1"}, 2,
                  "the root must be a rank from 0 to 0, got 1");
  expect_sentence({"run", "ring", "--shards", "0"}, 2, "there must be 1 to 1024 shards, got 0");
  expect_sentence(
      {"run", "ring", "--bytes", "lots"}, 2,
      "\"lots\" is not a size; use a number of bytes, or one with K, M, G or T such as 1.5G");
  expect_sentence({"run", "ring", "--dtype", "float8"}, 2,
                  "\"float8\" is not a dtype; use one of float16, bfloat16, float32, float64, "
                  "int8, int16, int32, int64, uint8, uint16, uint32, uint64");
  expect_sentence({"run", "ring", "--op", "xor"}, 2,
                  "\"xor\" is not a reduce op; use SUM, MEAN, MIN, MAX or PROD");
  expect_sentence({"run", "ring", "--literal", "--shared"}, 2,
                  "a literal run gives every rank an output of its own; outputs cannot be shared");
  expect_sentence({"run", "ring", "--workers", "4", "--bytes", "1M", "--timeout", "1e-9"}, 3,
                  "the run was not done by its deadline; its outputs are not whole");
}

}  // namespace
}  // namespace fanin
