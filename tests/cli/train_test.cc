#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/sanitized.h"
#include "run_tool.h"

namespace fanin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Json = nlohmann::json;

// A small network and few steps: these tests look at the tool, not at what it learns.
const std::vector<std::string> kSmall = {"--epochs",         "1", "--width", "16",
                                         "--bytes-per-pack", "8K"};

class Train : public ToolTest {
 protected:
  ToolRun train(std::vector<std::string> arguments, int ranks = 0) const {
    arguments.insert(arguments.begin(), "train");
    arguments.insert(arguments.end(), kSmall.begin(), kSmall.end());
    if (ranks > 0) {
      arguments.insert(arguments.begin(),
                       {"launch", "-n", std::to_string(ranks), "--", FANIN_TOOL});
    }
    return run(arguments);
  }

  Json answer(std::vector<std::string> arguments, int ranks = 0) const {
    arguments.emplace_back("--json");
    const ToolRun result = train(std::move(arguments), ranks);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out.substr(result.out.find('{')));
  }
};

TEST_F(Train, AnswersForScripts) {
  const Json json = answer({"--workers", "2", "--devices", "2"});
  for (const char* const key : {"test_accuracy", "final_hash", "step_ms", "overlap", "peak_bytes",
                                "spec", "method", "all_reduce_ms", "update_ms"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_GT(json.at("test_accuracy"), 0.3);
  EXPECT_EQ(json.at("spec"), "pscpu/pscpu#2");
  EXPECT_EQ(json.at("method"), "ADD_N");
  EXPECT_EQ(json.at("epochs").size(), 1U);
  EXPECT_GE(json.at("overlap"), 0);
  EXPECT_LE(json.at("overlap"), 1);
}

TEST_F(Train, HasTheSameWeightsInOneProcessAndMany) {
  std::vector<std::string> specs = {"nccl",  "xring",      "rechd",           "pscpu",
                                    "psgpu", "nccl/xring", "pscpu#2:4K:rechd"};
  if (kIsSanitized) specs = {"pscpu#2:4K:rechd"};
  std::set<Json> hashes;
  for (const std::string& spec : specs) {
    const Json one = answer({"--workers", "3", "--devices", "2", "--batch", "48", "--spec", spec});
    const Json many = answer({"--devices", "2", "--batch", "48", "--spec", spec}, 3);
    EXPECT_EQ(one.at("final_hash"), many.at("final_hash")) << spec;
    EXPECT_EQ(many.at("transport"), "shared-memory");
    EXPECT_EQ(many.at("workers"), 3);
    hashes.insert(one.at("final_hash"));
  }
  if (!kIsSanitized) {
    EXPECT_GT(hashes.size(), 1U) << "another order has other bits";
  }
}

TEST_F(Train, EndsWithWhereTheTimeWent) {
  const ToolRun result = train({"--workers", "2", "--devices", "1", "--method", "tree"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("forward and backward"), HasSubstr("all-reduce"),
                    HasSubstr("hidden behind other work"), HasSubstr("waiting for packs"),
                    HasSubstr("method: EXPERIMENTAL_TREE ("), HasSubstr("spec: pscpu/pscpu#2;"),
                    HasSubstr("of 360 unseen digits right")));
  EXPECT_EQ(result.err, "");
}

TEST_F(Train, ChoosesPacksIfAsked) {
  const ToolRun result = run({"train", "--workers", "2", "--devices", "1", "--epochs", "1",
                              "--width", "16", "--bytes-per-pack", "auto"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("note: automatic: packs of "));
}

TEST_F(Train, TracesAllRanks) {
  const ToolRun result = train({"--devices", "1", "--trace", "steps.json"}, 2);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json trace = Json::parse(read_text("steps.json"));
  std::map<int, std::set<std::string>> categories;
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X") categories[event.at("pid")].insert(event.at("cat"));
  ASSERT_EQ(categories.size(), 2U);
  for (const auto& [rank, each] : categories)
    EXPECT_THAT(each, testing::IsSupersetOf({"forward", "backward", "pack", "update"})) << rank;
}

TEST_F(Train, SaysWhatIsWrong) {
  expect_sentence({"train", "--optimizer", "newton"}, 2,
                  "--optimizer newton is not known; use sgd or adam");
  expect_sentence({"train", "--spec", "fast"}, 2,
                  "there is no algorithm \"fast\" for element 0 of a spec; use one of nccl, xring, "
                  "rechd, pscpu, psgpu, or two as nccl/xring");
  expect_sentence({"train", "--method", "sum"}, 2,
                  "\"sum\" is not an aggregation method; use ADD_N or DEFAULT (0), "
                  "EXPERIMENTAL_TREE (1), EXPERIMENTAL_ACCUMULATE_N (2) or AUTO (3)");
  expect_sentence(
      {"train", "--batch", "7"}, 2,
      "8 replicas with 1 passes a step cannot share a batch of 7 evenly; use a multiple "
      "of 8");
  expect_sentence({"train", "--bytes-per-pack", "much"}, 2,
                  "\"much\" is not a size; use a number of bytes, or one with K, M, G or T such as "
                  "1.5G");
  expect_sentence({"train", "--trace", "no/such/folder/x.json"}, 2,
                  "cannot write no/such/folder/x.json: there is no folder no/such/folder");
  const ToolRun result = train({"--workers", "3"}, 2);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("3 workers were asked for, but the group has 2 ranks"));
}

}  // namespace
}  // namespace fanin
