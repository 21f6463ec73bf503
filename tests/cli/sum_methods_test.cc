#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fanin/context.h"
#include "files/npy.h"
#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;

class SumMethods : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    for (int i = 0; i < 10; ++i) {
      const std::string name = std::to_string(i) + ".npy";
      write_npy(path(name), {Tensor::of<float>(std::vector<float>(25'000, 1.0F), {25'000}), false});
      arguments_.push_back(name);
    }
    arguments_.insert(arguments_.end(), {"-o", "out.npy"});
  }

  nlohmann::json sum(const std::vector<std::string>& more) const {
    auto arguments = arguments_;
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.emplace_back("--json");
    const ToolRun result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto values = read_npy(path("out.npy"), Context::process()).tensor.to_vector<float>();
    EXPECT_EQ(values, std::vector<float>(25'000, 10.0F));
    return nlohmann::json::parse(result.out);
  }

  std::vector<std::string> arguments_ = {"sum"};
};

TEST_F(SumMethods, KeepTheirPromisesOnMemory) {
  EXPECT_EQ(sum({"--method", "ADD_N"}).at("peak_bytes"), 11 * 100'000);
  EXPECT_EQ(sum({"--method", "accumulate_n"}).at("peak_bytes"), 2 * 100'000);
  EXPECT_LE(sum({"--method", "tree"}).at("peak_bytes"), 5 * 100'000);
}

TEST_F(SumMethods, AreChosenByTheBudget) {
  EXPECT_EQ(sum({}).at("method"), "ADD_N");
  EXPECT_EQ(sum({"--memory", "2M"}).at("method"), "ADD_N");
  EXPECT_EQ(sum({"--memory", "600000"}).at("method"), "EXPERIMENTAL_TREE");
  EXPECT_EQ(sum({"--memory", "200k"}).at("method"), "EXPERIMENTAL_ACCUMULATE_N");
}

TEST_F(SumMethods, AreExplained) {
  auto arguments = arguments_;
  arguments.insert(arguments.end(), {"--memory", "600000", "--explain"});
  const ToolRun result = run(arguments);
  EXPECT_THAT(result.out, HasSubstr("10 terms of 25000 float32 elements by EXPERIMENTAL_TREE: "));
  EXPECT_THAT(result.out, HasSubstr("the budget of 600000"));
}

TEST_F(SumMethods, AreRefusedIfThereIsNoSuch) {
  auto with = [&](std::vector<std::string> more) {
    auto arguments = arguments_;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_sentence(with({"--method", "TREES"}), 2,
                  "\"TREES\" is not an aggregation method; use ADD_N or DEFAULT (0), "
                  "EXPERIMENTAL_TREE (1), EXPERIMENTAL_ACCUMULATE_N (2) or AUTO (3)");
  expect_sentence(with({"--method", "tree", "--accumulation", "exact"}), 2,
                  "EXPERIMENTAL_TREE has no exact sum: it lets go of terms before all are there; "
                  "use ADD_N or AUTO");
  for (const char* size : {"x", "1X", "-1", "1KK"})
    expect_sentence(with({"--memory", size}), 2,
                    "\"" + std::string(size) +
                        "\" is not a size; use a number of bytes, or one with K, M, G or T such "
                        "as 1.5G");
  EXPECT_FALSE(std::filesystem::exists(path("out.npy")));
}

}  // namespace
}  // namespace fanin
