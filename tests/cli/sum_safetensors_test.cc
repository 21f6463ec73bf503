#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "fanin/context.h"
#include "files/safetensors_reader.h"
#include "files/safetensors_writer.h"
#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;
using Tensors = std::map<std::string, Tensor>;

class SumSafetensors : public ToolTest {
 protected:
  void save(const std::string& name, const Tensors& tensors,
            const SafetensorsMetadata& metadata = {}) const {
    std::vector<SafetensorsEntry> entries;
    for (const auto& [key, tensor] : tensors)
      entries.push_back({.name = key, .dtype = tensor.dtype(), .shape = tensor.shape()});
    SafetensorsWriter writer(path(name), entries, metadata);
    for (const auto& [key, tensor] : tensors) writer.write_tensor(key, tensor);
    writer.commit();
  }

  template <typename T>
  std::vector<T> load(const std::string& file, const std::string& name) const {
    return SafetensorsReader(path(file)).read_tensor(name, Context::process()).to_vector<T>();
  }

  void expect_refused(std::vector<std::string> inputs, const std::string& sentence) const {
    inputs.insert(inputs.begin(), "sum");
    inputs.insert(inputs.end(), {"-o", "out.safetensors"});
    expect_sentence(inputs, 2, sentence);
    for (const auto& entry : std::filesystem::directory_iterator(path("")))
      EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("out.safetensors")));
  }
};

TEST_F(SumSafetensors, AddsTensorsByName) {
  const auto weights = [](float a) { return Tensor::of<float>({a, 2 * a}, {2}); };
  save("a.safetensors", {{"w", weights(1)}, {"step", Tensor::of<std::int64_t>({5}, {})}},
       {{"format", "pt"}});
  save("b.safetensors", {{"w", weights(10)}, {"step", Tensor::of<std::int64_t>({6}, {})}});
  for (const char* method : {"ADD_N", "TREE", "ACCUMULATE_N", "AUTO"}) {
    const ToolRun result =
        run({"sum", "a.safetensors", "b.safetensors", "-o", "out.safetensors", "--method", method});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("sum of 2 terms, 2 tensors, 16 B, in "));
    EXPECT_EQ(load<float>("out.safetensors", "w"), (std::vector<float>{11, 22}));
    EXPECT_EQ(load<std::int64_t>("out.safetensors", "step"), (std::vector<std::int64_t>{11}));
  }
  EXPECT_EQ(SafetensorsReader(path("out.safetensors")).metadata(),
            (SafetensorsMetadata{{"format", "pt"}}));
}

TEST_F(SumSafetensors, AveragesCheckpoints) {
  save("a.safetensors",
       {{"h", Tensor::of<BFloat16>({BFloat16(1)}, {1})}, {"n", Tensor::of<std::int8_t>({1}, {1})}});
  save("b.safetensors",
       {{"h", Tensor::of<BFloat16>({BFloat16(4)}, {1})}, {"n", Tensor::of<std::int8_t>({2}, {1})}});
  const ToolRun result =
      run({"sum", "--mean", "a.safetensors", "b.safetensors", "-o", "soup.safetensors", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(static_cast<float>(load<BFloat16>("soup.safetensors", "h")[0]), 2.5F);
  EXPECT_EQ(load<float>("soup.safetensors", "n"), (std::vector<float>{1.5F}));
  const auto answer = nlohmann::json::parse(result.out);
  EXPECT_EQ(answer.at("tensors").size(), 2U);
}

TEST_F(SumSafetensors, TakesFilesWithoutTensors) {
  save("a.safetensors", {});
  EXPECT_EQ(run({"sum", "a.safetensors", "a.safetensors", "-o", "out.safetensors"}).exit_code, 0);
  EXPECT_TRUE(SafetensorsReader(path("out.safetensors")).entries().empty());
}

TEST_F(SumSafetensors, ListsTensorsThatDiffer) {
  const Tensor one = Tensor::of<float>({1}, {1});
  save("a.safetensors", {{"v", one}, {"w", one}, {"x", one}});
  save("b.safetensors", {{"v", one}, {"y", one}});
  save("c.safetensors", {{"v", one}});
  save("d.safetensors",
       {{"v", Tensor::of<double>({1}, {1})}, {"w", one}, {"x", Tensor::of<float>({1, 2}, {2})}});
  expect_refused(
      {"a.safetensors", "b.safetensors"},
      "b.safetensors lacks 'w', 'x', and has 'y', other than a.safetensors; the terms of "
      "a sum have the same tensors");
  expect_refused(
      {"c.safetensors", "b.safetensors"},
      "b.safetensors has 'y', other than c.safetensors; the terms of a sum have the same "
      "tensors");
  expect_refused({"a.safetensors", "d.safetensors"},
                 "a.safetensors and d.safetensors differ in 'v' (float32 [1] and float64 [1]), 'x' "
                 "(float32 [1] and float32 [2]); the terms of a sum have one dtype and one shape");
}

TEST_F(SumSafetensors, CutsLongLists) {
  Tensors many;
  for (int i = 0; i < 9; ++i) many["t" + std::to_string(i)] = Tensor::of<float>({1}, {1});
  save("a.safetensors", many);
  save("b.safetensors", {});
  expect_refused({"a.safetensors", "b.safetensors"},
                 "b.safetensors lacks 't0', 't1', 't2', 't3', 't4' and 4 more, other than "
                 "a.safetensors; the terms of a sum have the same tensors");
}

TEST_F(SumSafetensors, RefusesFilesOfAnotherKindOrDamaged) {
  save("a.safetensors", {{"w", Tensor::of<float>({1, 2}, {2})}});
  expect_refused({"a.safetensors", "b.npy"},
                 "a.safetensors and b.npy are files of different kinds; sum either .npy or "
                 ".safetensors files");
  expect_sentence(
      {"sum", "a.safetensors", "-o", "out.npy"}, 2,
      "the sum of .safetensors files cannot go to out.npy: name a file of the same kind");
  const std::string whole = read_text("a.safetensors");
  write_text("cut.safetensors", whole.substr(0, whole.size() - 3));
  const ToolRun cut = run({"sum", "a.safetensors", "cut.safetensors", "-o", "out.safetensors"});
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_THAT(cut.err, HasSubstr("cut.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(path("out.safetensors")));
}

TEST_F(SumSafetensors, MayReplaceOneOfItsInputs) {
  save("a.safetensors", {{"w", Tensor::of<float>({1, 2}, {2})}});
  EXPECT_EQ(run({"sum", "a.safetensors", "a.safetensors", "-o", "a.safetensors"}).exit_code, 0);
  EXPECT_EQ(load<float>("a.safetensors", "w"), (std::vector<float>{2, 4}));
}

}  // namespace
}  // namespace fanin
