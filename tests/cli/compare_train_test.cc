#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "run_tool.h"

namespace fanin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class CompareTrain : public ToolTest {
 protected:
  /// Small enough to be over in a moment.
  static std::vector<std::string> small(const std::vector<std::string>& more, int epochs,
                                        int rounds) {
    std::vector<std::string> arguments = {
        "compare",   "--train", "--width",   "8", "--epochs", std::to_string(epochs),
        "--workers", "3",       "--devices", "1", "--rounds", std::to_string(rounds)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  nlohmann::json compare(std::vector<std::string> more, int epochs, int rounds) const {
    more.emplace_back("--json");
    const ToolRun result = run(small(more, epochs, rounds));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return nlohmann::json::parse(result.out);
  }

  static std::vector<std::string> labels(const nlohmann::json& answer) {
    std::vector<std::string> labels;
    for (const auto& way : answer.at("ways")) labels.push_back(way.at("way"));
    return labels;
  }
};

TEST_F(CompareTrain, TrainsInEveryWay) {
  const auto answer = compare({}, 2, 1);
  EXPECT_THAT(labels(answer), ElementsAre("ADD_N", "TREE", "ACCUMULATE_N", "nccl", "xring", "rechd",
                                          "pscpu", "psgpu", "nccl/xring", "pscpu/pscpu#2"));
  EXPECT_EQ(answer.at("transport"), "in-process");
  EXPECT_EQ(answer.at("workers"), 3);
  EXPECT_EQ(answer.at("devices"), 1);
  for (const char* key : {"batch", "bytes_per_pack", "packs", "optimizer", "seed", "steps"})
    EXPECT_TRUE(answer.contains(key)) << key;
  for (const auto& way : answer.at("ways")) {
    for (const char* key : {"step_ms", "compute_ms", "all_reduce_ms", "update_ms", "peak_bytes"})
      EXPECT_GT(way.at(key), 0) << key;
    EXPECT_GE(way.at("wait_ms"), 0);
    EXPECT_GE(way.at("overlap"), 0);
    EXPECT_EQ(way.at("least_step_ms"), way.at("most_step_ms"));  // of one round
    ASSERT_EQ(way.at("epochs").size(), 2U);
    EXPECT_EQ(way.at("loss"), way.at("epochs")[1].at("loss"));
    EXPECT_LT(way.at("loss"), way.at("epochs")[0].at("loss"));
    EXPECT_EQ(way.at("test_accuracy"), way.at("epochs")[1].at("test_accuracy"));
  }
  EXPECT_THAT(answer.at("recommendation").at("reason").get<std::string>(),
              HasSubstr("The fastest of a single round, "));
  // Sums in the order of the workers have the same bits, those around a ring others.
  EXPECT_THAT(answer.at("same_weights")[0].get<std::vector<std::string>>(),
              testing::AllOf(testing::Contains("ADD_N"), testing::Contains("pscpu/pscpu#2"),
                             Not(testing::Contains("xring"))));
  std::size_t count = 0;
  for (const auto& group : answer.at("same_weights")) count += group.size();
  EXPECT_EQ(count, answer.at("ways").size());
}

TEST_F(CompareTrain, IsTheTrainingOfTrain) {
  const auto way = compare({"--specs", "xring,nccl", "--seed", "5"}, 1, 1).at("ways")[0];
  const ToolRun train = run({"train", "--width", "8", "--epochs", "1", "--workers", "3",
                             "--devices", "1", "--seed", "5", "--spec", "xring", "--json"});
  const auto alone = nlohmann::json::parse(train.out);
  for (const char* key : {"final_hash", "test_accuracy", "spec"})
    EXPECT_EQ(way.at(key), alone.at(key)) << key;
}

TEST_F(CompareTrain, TakesTheWaysThatAreNamed) {
  const auto specs = compare({"--specs", "rechd,pscpu#3:32K:xring,rechd"}, 1, 1);
  EXPECT_THAT(labels(specs), ElementsAre("rechd", "pscpu#3:32K:xring"));
  EXPECT_EQ(specs.at("ways")[0].at("method"), "AUTO");
  const auto methods = compare({"--methods", "tree,Experimental_Tree,auto"}, 1, 1);
  EXPECT_THAT(labels(methods), ElementsAre("TREE", "AUTO"));
  EXPECT_EQ(methods.at("ways")[0].at("spec"), "pscpu/pscpu#2");
  EXPECT_THAT(labels(compare({"--methods", "add_n", "--specs", "nccl"}, 1, 1)),
              ElementsAre("ADD_N", "nccl"));
}

TEST_F(CompareTrain, RepeatsRoundsWithTheSamePacks) {
  // Packs that are measured are so once, or rounds might end with different weights.
  const auto answer = compare({"--specs", "xring,rechd", "--bytes-per-pack", "auto"}, 1, 3);
  EXPECT_EQ(answer.at("rounds"), 3);
  EXPECT_GT(answer.at("bytes_per_pack"), 0);
  for (const auto& way : answer.at("ways")) {
    EXPECT_LE(way.at("least_step_ms"), way.at("step_ms"));
    EXPECT_LE(way.at("step_ms"), way.at("most_step_ms"));
  }
}

TEST_F(CompareTrain, WritesATableAndAPage) {
  const ToolRun result = run(small({"--specs", "nccl,xring,pscpu", "--html", "page.html"}, 2, 1));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");  // no bar without a terminal
  EXPECT_THAT(result.out,
              HasSubstr("3 workers (in-process) with 1 device each, 2 epochs of 1437 handwritten "
                        "digits, 63 a step, SGD, packs of at most 4.19 MB\n"));
  EXPECT_THAT(result.out,
              testing::ContainsRegex("\nway +step +spread +compute +all-reduce +hidden "
                                     "+update +wait +in buffers +loss +right  weights\n"));
  EXPECT_THAT(result.out, testing::ContainsRegex("\nxring +[0-9.]+ [mu]s  1.00 to 1.00 .* % +"
                                                 "[0-9a-f]{16}\n"));
  EXPECT_THAT(result.out, HasSubstr("\nSame weights, to the bit: nccl = pscpu. All add up "));
  EXPECT_THAT(result.out, HasSubstr("\nUse "));
  EXPECT_THAT(result.out, HasSubstr("page.html: the same with pictures\n"));
  const std::string page = read_text("page.html");
  for (const char* piece :
       {"Time of a step", "Where the time of a step goes", "Most memory in buffers",
        "<h2>Loss</h2>", "Digits told right", "<title>xring</title></path>"})
    EXPECT_THAT(page, HasSubstr(piece));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST_F(CompareTrain, RefusesWhatMakesNoSense) {
  for (const char* option : {"--gradients=resnet50", "--terms=3", "--shape=7", "--dtype=float32",
                             "--distribution=ill", "--memory=1G"}) {
    const std::string text = option;
    expect_sentence(
        {"compare", "--train", text}, 2,
        text.substr(0, text.find('=')) +
            " is of sums, but a training makes its own terms; leave it out, or --train");
  }
  expect_sentence({"compare", "a.npy", "b.npy", "--train"}, 2,
                  "FILES is of sums, but a training makes its own terms; leave it out, or --train");
  for (const char* option : {"--specs=nccl", "--methods=tree", "--workers=2", "--devices=2",
                             "--bytes-per-pack=1M", "--optimizer=sgd", "--learning-rate=1",
                             "--momentum=1", "--epochs=3", "--batch=8", "--width=8"}) {
    const std::string text = option;
    expect_sentence(
        {"compare", text}, 2,
        text.substr(0, text.find('=')) + " is of trainings; use it together with --train");
  }
  expect_sentence({"compare", "--train", "--specs", "nccl,x"}, 2,
                  "there is no algorithm \"x\" for element 0 of a spec; use one of nccl, xring, "
                  "rechd, pscpu, psgpu, or two as nccl/xring");
  expect_sentence({"compare", "--train", "--specs", ""}, 2,
                  "there is no algorithm \"\" for element 0 of a spec; use one of nccl, xring, "
                  "rechd, pscpu, psgpu, or two as nccl/xring");
  expect_sentence({"compare", "--train", "--methods", "tree,x"}, 2,
                  "\"x\" is not an aggregation method; use ADD_N or DEFAULT (0), EXPERIMENTAL_TREE "
                  "(1), EXPERIMENTAL_ACCUMULATE_N (2) or AUTO (3)");
  expect_sentence({"compare", "--train", "--specs", "xring"}, 2,
                  "xring alone has nothing to be compared with; name at least two ways");
  expect_sentence({"compare", "--train", "--rounds", "0"}, 2,
                  "--rounds 0 is out of range; use 1 or more");
  expect_sentence({"compare", "--train", "--optimizer", "x"}, 2,
                  "--optimizer x is not known; use sgd or adam");
  expect_sentence({"compare", "--train", "--workers", "3", "--batch", "64"}, 2,
                  "6 replicas with 1 passes a step cannot share a batch of 64 evenly; use a "
                  "multiple of 6");
  expect_sentence({"compare", "--train", "--html", "none/page.html"}, 2,
                  "cannot write none/page.html: there is no folder none");
}

}  // namespace
}  // namespace fanin
