#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;

class PlanCommand : public ToolTest {};

TEST_F(PlanCommand, ShowsWhatTravelsTogether) {
  const ToolRun result = run({"plan", "--workers", "4", "--gpus", "2", "--spec",
                              "pscpu#2:32K:nccl/xring", "--gradients", "resnet50"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("SUM of 161 tensors (102 MB) among 4 workers with 2 devices each"));
  EXPECT_THAT(result.out, HasSubstr("direct/ring"));
  EXPECT_THAT(result.out, HasSubstr("note: nccl: there is no NCCL here"));
}

TEST_F(PlanCommand, WarnsOfALimitThatNothingReaches) {
  EXPECT_THAT(run({"plan", "--spec", "pscpu:1G:xring"}).out,
              HasSubstr("warning: xring takes nothing: no pack is larger than 1.07 GB"));
}

TEST_F(PlanCommand, AnswersScriptsAndReadsFiles) {
  write_text("list.json", R"([{"name": "a", "dtype": "float16", "shape": [3, 2]},
                              {"name": "b", "dtype": "float16", "shape": []}])");
  const auto json = nlohmann::json::parse(
      run({"plan", "--gradients", "list.json", "--num-packs", "2", "--spec", "xring", "--json"})
          .out);
  EXPECT_EQ(json.at("tensors").size(), 2U);
  EXPECT_EQ(json.at("packs")[0].at("bytes"), 8);
  EXPECT_EQ(json.at("packs")[1].at("bytes"), 6);
}

TEST_F(PlanCommand, WritesAPage) {
  const ToolRun result =
      run({"plan", "--gradients", "bert-base", "--bytes-per-pack", "50M", "--html", "plan.html"});
  EXPECT_THAT(result.out, HasSubstr("plan.html: the same with pictures"));
  const std::string page = read_text("plan.html");
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("199 tensors travel in"));
}

TEST_F(PlanCommand, RefusesWhatCannotBe) {
  expect_sentence({"plan", "--spec", "ring"}, 2,
                  "there is no algorithm \"ring\" for element 0 of a spec; use one of nccl, xring, "
                  "rechd, pscpu, psgpu, or two as nccl/xring");
  expect_sentence(
      {"plan", "--workers", "0"}, 2,
      "there must be at least 1 worker and 1 device, got 0 workers with 1 devices each");
  expect_sentence({"plan", "--num-packs", "-1"}, 2, "num_packs is -1; use 0 (not set) or more");
  expect_sentence({"plan", "--gradients", "vgg"}, 2,
                  "\"vgg\" is not a model that is known; use resnet50 or bert-base");
  write_text("bad.json", "{\"name\": 3}");
  expect_sentence({"plan", "--gradients", "bad.json"}, 2,
                  "bad.json is not a JSON list of objects with name, dtype and shape");
  expect_sentence({"plan", "--gradients", "none.json"}, 2,
                  "cannot read none.json: there is no such file");
}

}  // namespace
}  // namespace fanin
