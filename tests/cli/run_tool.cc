#include "run_tool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fanin {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace

void ToolTest::SetUp() {
  std::string name = (std::filesystem::temp_directory_path() / "fanin-cli-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  folder_ = name;
}

void ToolTest::TearDown() { std::filesystem::remove_all(folder_); }

ToolRun ToolTest::run(const std::vector<std::string>& arguments) const {
  std::string command = "cd " + quoted(folder_.string()) + " && " + quoted(FANIN_TOOL);
  for (const std::string& argument : arguments) command += " " + quoted(argument);
  const int status = std::system((command + " >.out 2>.err").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(".out"), read_text(".err")};
}

void ToolTest::expect_sentence(const std::vector<std::string>& arguments, int exit_code,
                               const std::string& sentence) const {
  const ToolRun result = run(arguments);
  EXPECT_EQ(result.exit_code, exit_code);
  EXPECT_EQ(result.err, "fanin: " + sentence + "\n");
  EXPECT_EQ(result.out, "");
}

void ToolTest::write_text(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string ToolTest::read_text(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace fanin
