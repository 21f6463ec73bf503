#include "fanin/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "fanin/error.h"
#include "transports/test_ranks.h"

namespace fanin {
namespace {

using testing::Each;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::string join_error(const std::string& rendezvous, int rank, int world_size,
                       std::chrono::duration<double> timeout = 1s) {
  try {
    join({rendezvous, rank, world_size, timeout});
  } catch (const Error& error) {
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

/// Each rank joins and meets the others; the outcome of each.
std::vector<std::string> outcomes_of(const std::vector<JoinOptions>& ranks) {
  std::vector<std::string> outcomes(ranks.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i] {
      outcomes[i] = test::outcome_of([&] {
        Group group = join(ranks[i]);
        EXPECT_EQ(group.rank(), ranks[i].rank);
        EXPECT_EQ(group.size(), ranks[i].world_size);
        group.barrier();
      });
    });
  threads.clear();
  return outcomes;
}

std::vector<JoinOptions> some_ranks(const std::string& rendezvous, int world_size) {
  std::vector<JoinOptions> ranks;
  for (int rank = 0; rank < world_size; ++rank)
    ranks.push_back({.rendezvous = rendezvous,
                     .rank = rank,
                     .world_size = world_size,
                     .timeout = 20s,
                     .secret = "between us"});
  return ranks;
}

TEST(Join, MeetsTheOthersAtTheFile) {
  const test::Folder folder;
  const std::string rendezvous = "file:" + folder.socket().native();
  EXPECT_THAT(outcomes_of(some_ranks(rendezvous, 3)), Each(""));
  EXPECT_TRUE(folder.is_empty());
}

TEST(Join, MeetsTheOthersInAFolder) {
  const test::Folder folder;
  for (const char* end : {"", "/"}) {
    const std::string rendezvous = "file:" + folder.path().native() + end;
    EXPECT_THAT(outcomes_of(some_ranks(rendezvous, 2)), Each(""));
    EXPECT_TRUE(folder.is_empty());
  }
  // The file that documents name.
  EXPECT_THAT(join_error("file:" + folder.path().native(), 1, 2, 50ms),
              HasSubstr("\"" + folder.path().native() + "/fanin.socket\""));
  EXPECT_THAT(join_error("file:" + folder.path().native() + "/missing/", 1, 2),
              HasSubstr("missing/fanin.socket\" is in a folder that does not exist"));
}

TEST(Join, PassesTheSecretOn) {
  const test::Folder folder;
  std::vector<JoinOptions> ranks = some_ranks("file:" + folder.path().native(), 2);
  ranks[0].timeout = 500ms;
  ranks[1].secret = "";
  const std::vector<std::string> outcomes = outcomes_of(ranks);
  EXPECT_THAT(outcomes[0], HasSubstr("rank 1 of 2 has not come"));
  EXPECT_THAT(outcomes[1], HasSubstr("rank 1, has no secret, but rank 0 has one"));
}

TEST(InProcess, RefusesAnImpossibleCount) {
  EXPECT_THROW(in_process(0), InvalidArgument);
  EXPECT_THROW(in_process(-1), InvalidArgument);
  EXPECT_THROW(in_process(2, -1s), InvalidArgument);
}

}  // namespace
}  // namespace fanin
