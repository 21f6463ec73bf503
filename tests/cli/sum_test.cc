#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fanin/context.h"
#include "files/npy.h"
#include "run_tool.h"

namespace fanin {
namespace {

class Sum : public ToolTest {
 protected:
  template <typename T>
  void save(const std::string& name, const std::vector<T>& elements, Shape shape,
            bool is_transposed = false) const {
    write_npy(path(name), {Tensor::of<T>(elements, std::move(shape)), is_transposed});
  }

  NpyArray load(const std::string& name) const { return read_npy(path(name), Context::process()); }

  /// A sentence, exit code 2, and no output file.
  void expect_refused(std::vector<std::string> inputs, const std::string& sentence) const {
    inputs.insert(inputs.begin(), "sum");
    inputs.insert(inputs.end(), {"-o", "out.npy"});
    expect_sentence(inputs, 2, sentence);
    EXPECT_FALSE(std::filesystem::exists(path("out.npy")));
  }
};

TEST_F(Sum, AddsFiles) {
  save<float>("a.npy", {1, 2, 3, 4, 5, 6}, {2, 3});
  save<float>("b.npy", {10, 20, 30, 40, 50, 60}, {2, 3});
  const ToolRun result = run({"sum", "a.npy", "b.npy", "-o", "out.npy"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::StartsWith("out.npy: sum of 2 terms, float32 [2,3], 24 B, in "));
  EXPECT_EQ(result.err, "") << "no bar where there is no terminal";
  EXPECT_EQ(load("out.npy").tensor.to_vector<float>(),
            (std::vector<float>{11, 22, 33, 44, 55, 66}));
  EXPECT_EQ(load("out.npy").shape(), Shape({2, 3}));
}

TEST_F(Sum, DividesForTheMean) {
  save<std::int32_t>("a.npy", {1, 2}, {2});
  save<std::int32_t>("b.npy", {2, 2}, {2});
  const ToolRun result = run({"sum", "a.npy", "b.npy", "-o", "out.npy", "--mean", "--json"});
  const auto answer = nlohmann::json::parse(result.out);
  EXPECT_EQ(answer.at("tensors"),
            nlohmann::json::parse(R"([{"name":"","dtype":"float64","shape":[2]}])"));
  EXPECT_EQ(answer.at("terms"), 2);
  EXPECT_EQ(answer.at("method"), "ADD_N");
  EXPECT_EQ(answer.at("mean"), true);
  EXPECT_EQ(load("out.npy").tensor.to_vector<double>(), (std::vector<double>{1.5, 2}));
}

TEST_F(Sum, RoundsHalvesOnceOrAtEachStep) {
  save<Float16>("a.npy", {Float16(2048)}, {1});
  save<Float16>("b.npy", {Float16(1)}, {1});
  const auto with = [&](const char* accumulation) {
    const ToolRun result =
        run({"sum", "a.npy", "b.npy", "b.npy", "-o", "out.npy", "--accumulation", accumulation});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return static_cast<float>(load("out.npy").tensor.to_vector<Float16>()[0]);
  };
  EXPECT_EQ(with("wide"), 2050.0F);
  EXPECT_EQ(with("native"), 2048.0F);
  EXPECT_EQ(with("exact"), 2050.0F);
}

TEST_F(Sum, IsExactIfAskedFor) {
  save<double>("a.npy", {1e308, 1}, {2});
  save<double>("b.npy", {1e308, 1e100}, {2});
  save<double>("c.npy", {-1e308, -1e100}, {2});
  const ToolRun result =
      run({"sum", "a.npy", "b.npy", "c.npy", "-o", "out.npy", "--accumulation", "exact", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out).at("accumulation"), "exact");
  EXPECT_EQ(load("out.npy").tensor.to_vector<double>(), (std::vector<double>{1e308, 1}));
  EXPECT_THAT(run({"sum", "--help"}).out, testing::HasSubstr("exact: the exact sum"));
}

TEST_F(Sum, MayReplaceOneOfItsInputs) {
  save<float>("a.npy", {1, 2}, {2});
  EXPECT_EQ(run({"sum", "a.npy", "a.npy", "-o", "a.npy"}).exit_code, 0);
  EXPECT_EQ(load("a.npy").tensor.to_vector<float>(), (std::vector<float>{2, 4}));
}

TEST_F(Sum, KeepsFortranOrderIfAllHaveIt) {
  save<float>("f.npy", {0, 1, 2, 3, 4, 5}, {3, 2}, true);  // [[0,2,4],[1,3,5]]
  save<float>("c.npy", {10, 10, 10, 20, 20, 20}, {2, 3});
  EXPECT_EQ(run({"sum", "f.npy", "f.npy", "-o", "out.npy"}).exit_code, 0);
  EXPECT_TRUE(load("out.npy").is_transposed);
  EXPECT_EQ(load("out.npy").tensor.to_vector<float>(), (std::vector<float>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(run({"sum", "f.npy", "c.npy", "-o", "out.npy"}).exit_code, 0);
  EXPECT_FALSE(load("out.npy").is_transposed);
  EXPECT_EQ(load("out.npy").tensor.to_vector<float>(),
            (std::vector<float>{10, 12, 14, 21, 23, 25}));
}

TEST_F(Sum, RefusesTermsThatDiffer) {
  save<float>("a.npy", {1, 2}, {2});
  save<float>("b.npy", {1, 2}, {2, 1});
  save<double>("c.npy", {1, 2}, {2});
  expect_refused(
      {"a.npy", "b.npy"},
      "a.npy has shape [2] but b.npy has shape [2,1]; the terms of a sum have one shape");
  expect_refused({"a.npy", "c.npy"},
                 "a.npy is float32 but c.npy is float64; the terms of a sum have one dtype");
}

TEST_F(Sum, RefusesFilesThatAreMissingOrDamaged) {
  save<float>("a.npy", {1, 2}, {2});
  expect_refused({"a.npy", "none.npy"}, "cannot read none.npy: there is no such file");
  write_text("cut.npy", read_text("a.npy").substr(0, 131));
  expect_refused({"a.npy", "cut.npy"},
                 "cut.npy is cut off: a float32 array of shape [2] has 8 bytes of data, found 3");
  write_text("text.npy", "hello");
  expect_refused({"text.npy"}, "text.npy is not a .npy file: it does not begin as one");
  expect_refused({"."}, "cannot read .: it is a folder");
}

TEST_F(Sum, RefusesAnOutputThatCannotBe) {
  save<float>("a.npy", {1, 2}, {2});
  expect_sentence({"sum", "a.npy", "-o", "none/out.npy"}, 2,
                  "cannot write none/out.npy: there is no folder none");
  expect_sentence({"sum", "a.npy", "-o", "."}, 2, "cannot write .: it is a folder");
  expect_sentence({"sum", "a.npy", "-o", "out.npy", "--accumulation", "x"}, 2,
                  "accumulation \"x\" is not known; use wide (float16 and bfloat16 are summed in "
                  "float32 and rounded once), native (rounded at each step) or exact (the exact "
                  "sum, rounded once)");
}

TEST_F(Sum, LeavesTheOldOutputWhenItFails) {
  save<float>("a.npy", {1, 2}, {2});
  write_text("cut.npy", read_text("a.npy").substr(0, 131));
  write_text("out.npy", "before");
  EXPECT_EQ(run({"sum", "a.npy", "cut.npy", "-o", "out.npy"}).exit_code, 2);
  EXPECT_EQ(read_text("out.npy"), "before");
}

}  // namespace
}  // namespace fanin
