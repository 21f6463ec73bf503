#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace fanin {

/// What a run of the tool left: its exit code, and what it printed.
struct ToolRun {
  int exit_code;
  std::string out;
  std::string err;
};

/// A test that runs the tool in a folder of its own.
class ToolTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Runs the tool with the folder as its working directory.
  ToolRun run(const std::vector<std::string>& arguments) const;

  /// Expects one sentence on stderr, this exit code, and nothing on stdout.
  void expect_sentence(const std::vector<std::string>& arguments, int exit_code,
                       const std::string& sentence) const;

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  void write_text(const std::string& name, const std::string& text) const;
  std::string read_text(const std::string& name) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace fanin
