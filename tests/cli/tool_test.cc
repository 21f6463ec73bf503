#include <gmock/gmock.h>

#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;

class Tool : public ToolTest {};

TEST_F(Tool, HelpsWithEachCommand) {
  const ToolRun all = run({"--help"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_THAT(all.out, HasSubstr("Exit codes: 0 done"));
  for (const char* command : {"sum", "conformance", "algorithms", "schedule", "verify", "run",
                              "price", "doctor", "selftest", "launch"}) {
    const ToolRun one = run({command, "--help"});
    EXPECT_EQ(one.exit_code, 0);
    EXPECT_THAT(one.out, HasSubstr("Example: fanin "));
    EXPECT_EQ(one.err, "");
    EXPECT_THAT(all.out, HasSubstr(std::string("\n  ") + command + " "));
  }
}

TEST_F(Tool, AnswersAWrongCommandWithASentence) {
  expect_sentence({}, 2, "name a command; see fanin --help");
  expect_sentence({"summ", "a.npy"}, 2, "\"summ\" is not a command; see fanin --help");
  expect_sentence({"sum", "a.npy"}, 2, "--output is required; see fanin sum --help");
  expect_sentence({"sum", "a.npy", "-o", "b.npy", "--men"}, 2,
                  "The following argument was not expected: --men; see fanin sum --help");
}

TEST_F(Tool, PrintsErrorsAsJsonToo) {
  const ToolRun result = run({"sum", "a.npy", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out,
            "{\"error\":{\"code\":\"INVALID_ARGUMENT\",\"kind\":\"BAD_OPTION\",\"message\":"
            "\"--output is required; see fanin sum --help\"}}\n");
  EXPECT_EQ(result.err, "fanin: --output is required; see fanin sum --help\n");
}

TEST_F(Tool, KnowsItsVersion) {
  EXPECT_THAT(run({"version"}).out, testing::MatchesRegex("fanin [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(run({"version", "--json"}).out, testing::StartsWith("{\"version\":\""));
}

}  // namespace
}  // namespace fanin
