#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "core/sanitized.h"
#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;
using testing::Not;

class Launch : public ToolTest {};

TEST_F(Launch, RunsTheSelftestOnManyRanks) {
  for (const char* ranks : {"1", "2", "3", "5", "8"}) {
    // A sanitizer sees one process at a time, which few ranks show it too.
    if (kIsSanitized && std::string(ranks) != "1" && std::string(ranks) != "3") continue;
    const ToolRun result = run({"launch", "-n", ranks, "--", FANIN_TOOL, "selftest"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(std::string("selftest: ") + ranks + " rank"));
    EXPECT_THAT(result.out, HasSubstr(" 0 wrong"));
  }
}

TEST_F(Launch, PutsTheRankBeforeEachLine) {
  const ToolRun result = run({"launch", "-n", "2", "--", "sh", "-c", "echo one; printf two"});
  EXPECT_THAT(result.out, HasSubstr("[0] one\n"));
  EXPECT_THAT(result.out, HasSubstr("[1] two\n"));
}

TEST_F(Launch, PassesOnTheExitCodeOfTheRankThatFailedFirst) {
  const ToolRun result =
      run({"launch", "-n", "3", "--", "sh", "-c", "[ $FANIN_RANK != 1 ] || exit 7; sleep 60"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.err, HasSubstr("rank 1"));
}

TEST_F(Launch, GivesEachJobARandomSecretAndKeepsItToItsRanks) {
  ::setenv("FANIN_SECRET", "of-the-shell", 1);
  ::setenv("FANIN_SECRET_FILE", "/no/such/file", 1);
  std::set<std::string> secrets;
  for (int job = 0; job < 2; ++job) {
    const ToolRun result = run({"launch", "-n", "2", "--json", "--", "sh", "-c",
                                "echo $FANIN_SECRET $FANIN_SECRET_FILE > secret.$FANIN_RANK"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::string secret = read_text("secret.0");
    EXPECT_EQ(secret, read_text("secret.1"));
    EXPECT_THAT(secret, testing::MatchesRegex("[0-9a-f]{64}\n"));
    EXPECT_THAT(result.out + result.err, Not(HasSubstr(secret.substr(0, 64))));
    secrets.insert(secret);
  }
  EXPECT_EQ(secrets.size(), 2U);
  const ToolRun result = run({"launch", "-n", "2", "--", FANIN_TOOL, "selftest"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ::unsetenv("FANIN_SECRET");
  ::unsetenv("FANIN_SECRET_FILE");
}

TEST_F(Launch, OnlyRankZeroPrintsTheResult) {
  const ToolRun result = run({"launch", "-n", "3", "--", FANIN_TOOL, "selftest"});
  EXPECT_THAT(result.out, testing::StartsWith("[0] selftest: 3 ranks"));
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 1);
}

TEST_F(Launch, SeesTheEndsOfItsRanksAlsoIfItsCallerIgnoredThem) {
  // A launch without end takes SIGTERM as one for its ranks.
  const ToolRun result =
      run({"launch", "-n", "1", "--", "timeout", "--signal=KILL", "20", "env",
           "--ignore-signal=CHLD", FANIN_TOOL, "launch", "-n", "2", "--", "true"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Launch, AnswersWrongCommandsWithASentence) {
  expect_sentence({"launch", "-n", "2", "--", "/no/such/program"}, 2,
                  "the program \"/no/such/program\" cannot be started: No such file or directory");
  expect_sentence({"launch", "-n", "0", "--", "true"}, 2,
                  "--ranks: Value 0 not in range 1 to 1024; see fanin launch --help");
  expect_sentence({"launch", "-n", "2"}, 2, "program is required; see fanin launch --help");
}

class Selftest : public ToolTest {};

TEST_F(Selftest, TakesThreadsAsRanks) {
  const auto json = nlohmann::json::parse(run({"selftest", "--threads", "3", "--json"}).out);
  EXPECT_EQ(json.at("ranks"), 3);
  EXPECT_EQ(json.at("wrong").size(), 0U);
  EXPECT_GT(json.at("right"), 900);
}

}  // namespace
}  // namespace fanin
