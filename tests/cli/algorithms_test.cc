#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;

class AlgorithmsCommand : public ToolTest {};

TEST_F(AlgorithmsCommand, ListsWhatEachCosts) {
  const ToolRun result = run({"algorithms"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("name                in a spec     rounds  messages   sent"));
  EXPECT_THAT(result.out, HasSubstr("ring                xring              6        24    1.5  "));
  EXPECT_THAT(result.out, HasSubstr("one_device                             2         6      3  "));
  EXPECT_THAT(result.out, HasSubstr("All-reduce with --workers 4 --devices 1."));
  EXPECT_THAT(run({"algorithms", "--workers", "8"}).out, HasSubstr("    14       112   1.75  "));
}

TEST_F(AlgorithmsCommand, PrintsJson) {
  const auto json =
      nlohmann::json::parse(run({"algorithms", "--workers", "2", "--devices", "3", "--json"}).out);
  EXPECT_EQ(json.at("workers"), 2);
  EXPECT_EQ(json.at("devices"), 3);
  EXPECT_GE(json.at("algorithms").size(), 8U);
  for (const auto& algorithm : json.at("algorithms"))
    for (const char* text : {"name", "summary", "description"})
      EXPECT_NE(algorithm.at(text), "") << algorithm;
  const auto& ring = json.at("algorithms").at(1);
  EXPECT_EQ(ring.at("name"), "ring");
  EXPECT_EQ(ring.at("spec_names"), "xring");
  EXPECT_EQ(ring.at("cost").at("rounds"), 10);
}

TEST_F(AlgorithmsCommand, RefusesWhatCannotBe) {
  expect_sentence(
      {"algorithms", "--workers", "0"}, 2,
      "there must be at least 1 worker and 1 device, got 0 workers with 1 devices each");
  expect_sentence({"algorithms", "--docs", "nowhere"}, 2,
                  "\"nowhere\" is not a folder; --docs needs one that is there");
  expect_sentence({"algorithms", "--docs", ".", "--workers", "4"}, 2,
                  "--workers excludes --docs; see fanin algorithms --help");
  write_text("pictures", "in the way");
  expect_sentence({"algorithms", "--docs", "."}, 2,
                  "the folder \"./pictures/algorithms\" cannot be made: Not a directory");
  EXPECT_FALSE(std::filesystem::exists(path("algorithms.md")));
}

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

bool is_same(const fs::path& one, const fs::path& other) {
  const auto read = [](const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  return read(one) == read(other);
}

TEST_F(AlgorithmsCommand, WroteTheDocument) {
  const std::string again = "; run: ./fanin algorithms --docs docs";
  ASSERT_EQ(run({"algorithms", "--docs", "."}).exit_code, 0);
  const fs::path docs = FANIN_DOCS;
  EXPECT_TRUE(is_same(path("algorithms.md"), docs / "algorithms.md"))
      << "docs/algorithms.md is not what the tool writes" << again;
  const auto pictures = names_in(path("pictures/algorithms"));
  EXPECT_EQ(pictures, names_in(docs / "pictures/algorithms"))
      << "docs/pictures/algorithms has other pictures than the tool writes" << again;
  for (const std::string& name : pictures)
    EXPECT_TRUE(is_same(path("pictures/algorithms/" + name), docs / "pictures/algorithms" / name))
        << "docs/pictures/algorithms/" << name << " is not what the tool writes" << again;
  EXPECT_THAT(read_text("algorithms.md"), testing::StartsWith("<!-- Made by: fanin algorithms "));
}

}  // namespace
}  // namespace fanin
