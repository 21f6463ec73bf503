#include "fanin/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "fanin/error.h"

namespace fanin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// The environment with these variables and no other FANIN_... of ours.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& variables) {
    clear();
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() { clear(); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void clear() {
    for (const char* name :
         {"FANIN_RENDEZVOUS", "FANIN_RANK", "FANIN_WORLD_SIZE", "FANIN_TIMEOUT_SECONDS"})
      ::unsetenv(name);
  }
};

std::string error_of(const std::map<std::string, std::string>& variables) {
  const Environment environment(variables);
  try {
    JoinOptions::from_environment();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadOption);
    return error.what();
  }
  return "";
}

TEST(FromEnvironment, WithoutARendezvousItIsAGroupOfOne) {
  const Environment environment({});
  Group group = join(JoinOptions::from_environment());
  EXPECT_EQ(group.rank(), 0);
  EXPECT_EQ(group.size(), 1);
  group.barrier();
}

TEST(FromEnvironment, ReadsAllVariables) {
  const Environment environment({{"FANIN_RENDEZVOUS", "file:/tmp/x"},
                                 {"FANIN_RANK", "2"},
                                 {"FANIN_WORLD_SIZE", "5"},
                                 {"FANIN_TIMEOUT_SECONDS", "1.5"}});
  const JoinOptions options = JoinOptions::from_environment();
  EXPECT_EQ(options.rendezvous, "file:/tmp/x");
  EXPECT_EQ(options.rank, 2);
  EXPECT_EQ(options.world_size, 5);
  EXPECT_EQ(options.timeout, 1500ms);
}

TEST(FromEnvironment, NamesTheVariableThatIsWrong) {
  EXPECT_THAT(error_of({{"FANIN_RENDEZVOUS", "file:/tmp/x"}}), HasSubstr("FANIN_RANK is not"));
  EXPECT_THAT(error_of({{"FANIN_RENDEZVOUS", "file:/tmp/x"}, {"FANIN_RANK", "0"}}),
              HasSubstr("FANIN_WORLD_SIZE is not"));
  for (const char* rank : {"one", "1x", "-1", " 1", "99999999999999"})
    EXPECT_THAT(
        error_of(
            {{"FANIN_RENDEZVOUS", "file:/tmp/x"}, {"FANIN_RANK", rank}, {"FANIN_WORLD_SIZE", "2"}}),
        AllOf(HasSubstr("FANIN_RANK is"), HasSubstr("no count")));
  EXPECT_THAT(
      error_of(
          {{"FANIN_RENDEZVOUS", "file:/tmp/x"}, {"FANIN_RANK", "2"}, {"FANIN_WORLD_SIZE", "2"}}),
      HasSubstr("FANIN_RANK is 2 but FANIN_WORLD_SIZE is 2"));
  for (const char* seconds : {"soon", "0", "-1", "nan", "inf"})
    EXPECT_THAT(error_of({{"FANIN_TIMEOUT_SECONDS", seconds}}),
                HasSubstr("FANIN_TIMEOUT_SECONDS is"));
}

std::string join_error(const std::string& rendezvous, int rank, int world_size,
                       std::chrono::duration<double> timeout = 1s) {
  try {
    join({rendezvous, rank, world_size, timeout});
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Join, SaysWhatIsWrongWithItsOptions) {
  EXPECT_THAT(join_error("", 0, 2), HasSubstr("need a rendezvous"));
  EXPECT_THAT(join_error("tcp:host", 0, 2), HasSubstr("\"tcp:host\" is not known; use file:PATH"));
  EXPECT_THAT(join_error("file:", 0, 2), HasSubstr("use file:PATH"));
  EXPECT_THAT(join_error("file:/x", 2, 2), HasSubstr("rank 2 does not exist"));
  EXPECT_THAT(join_error("", 0, 0), HasSubstr("1 or more, got 0"));
  EXPECT_THAT(join_error("", 0, 1, 0s), HasSubstr("above 0 seconds"));
}

TEST(Join, MeetsTheOthersAtTheFile) {
  std::string folder = std::filesystem::temp_directory_path() / "fanin-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&folder, rank] {
      Group group = join({.rendezvous = "file:" + folder + "/socket",
                          .rank = rank,
                          .world_size = 3,
                          .timeout = 20s});
      EXPECT_EQ(group.rank(), rank);
      EXPECT_EQ(group.size(), 3);
      group.barrier();
    });
  threads.clear();
  // Only an empty folder can be removed like this.
  EXPECT_TRUE(std::filesystem::remove(folder));
}

TEST(InProcess, RefusesAnImpossibleCount) {
  EXPECT_THROW(in_process(0), InvalidArgument);
  EXPECT_THROW(in_process(-1), InvalidArgument);
  EXPECT_THROW(in_process(2, -1s), InvalidArgument);
}

}  // namespace
}  // namespace fanin
