#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "c_api/test_c_groups.h"
#include "transports/test_ranks.h"

namespace fanin::c_api {
namespace {

using test::call_options;
using test::expect_error;
using test::expect_ok;
using test::expect_refused;
using test::Threads;
using testing::HasSubstr;

fanin_join_options join_options() {
  fanin_join_options options{};
  options.size = sizeof options;
  return options;
}

/// Three processes that join one group, each of which runs `body(group, rank)`.
template <typename Body>
std::vector<test::Child> three_processes(const test::Folder& folder, const Body& body) {
  const std::string rendezvous = "file:" + folder.socket().native();
  std::vector<test::Child> children;
  for (int rank = 0; rank < 3; ++rank)
    children.emplace_back([&] {
      fanin_join_options options = join_options();
      options.rendezvous = rendezvous.c_str();
      options.rank = rank;
      options.world_size = 3;
      options.timeout_seconds = 60;
      options.secret = "of this test";
      fanin_group* group = nullptr;
      test::expect(fanin_join(&options, &group) == FANIN_OK, fanin_last_error());
      body(group, rank);
      fanin_group_free(group);
    });
  return children;
}

TEST(CGroup, ThreadsKnowTheirRanks) {
  const Threads threads(3);
  threads.run([](fanin_group* group, int rank) {
    std::int32_t found = -1;
    std::int32_t size = -1;
    expect_ok(fanin_rank(group, &found));
    expect_ok(fanin_size(group, &size));
    EXPECT_EQ(found, rank);
    EXPECT_EQ(size, 3);
  });
}

TEST(CGroup, ThreadsCannotBeNone) {
  std::array<fanin_group*, 1> groups{};
  EXPECT_EQ(fanin_in_process(0, 0, groups.data()), FANIN_INVALID_ARGUMENT);
  EXPECT_EQ(fanin_in_process(-1, 0, groups.data()), FANIN_INVALID_ARGUMENT);
  expect_refused(FANIN_KIND_BAD_OPTION, "the timeout must be above 0 seconds, got -1",
                 fanin_in_process(1, -1, groups.data()));
  expect_refused(FANIN_KIND_BAD_OPTION, "the place for the groups is NULL; give its address",
                 fanin_in_process(1, 0, nullptr));
}

TEST(CJoin, WithoutALauncherIsAGroupOfOne) {
  for (const char* name : {"FANIN_RANK", "FANIN_WORLD_SIZE", "FANIN_RENDEZVOUS"}) ::unsetenv(name);
  const fanin_join_options defaults = join_options();
  for (const fanin_join_options* options :
       {static_cast<const fanin_join_options*>(nullptr), &defaults}) {
    fanin_group* group = nullptr;
    expect_ok(fanin_join(options, &group));
    std::int32_t size = 0;
    expect_ok(fanin_size(group, &size));
    EXPECT_EQ(size, 1);
    fanin_group_free(group);
  }
}

TEST(CJoin, ReadsTheEnvironmentUnlessToldWhoItIs) {
  ::setenv("FANIN_RANK", "many", 1);
  ::setenv("FANIN_WORLD_SIZE", "2", 1);
  fanin_group* group = reinterpret_cast<fanin_group*>(&group);
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("FANIN_RANK"), fanin_join(nullptr, &group));
  EXPECT_EQ(group, nullptr);
  fanin_join_options options = join_options();
  options.world_size = 1;
  expect_ok(fanin_join(&options, &group));
  fanin_group_free(group);
  ::unsetenv("FANIN_RANK");
  ::unsetenv("FANIN_WORLD_SIZE");
}

TEST(CJoin, ProcessesMeetByTheirOptions) {
  const test::Folder folder;
  auto children = three_processes(folder, [](fanin_group* group, int rank) {
    const auto expect = [](std::int32_t code) {
      test::expect(code == FANIN_OK, fanin_last_error());
    };
    void* data = nullptr;
    expect(fanin_allocate(group, 4 * sizeof(double), &data));
    auto* const numbers = static_cast<double*>(data);
    std::fill_n(numbers, 4, rank + 1);
    expect(fanin_all_reduce(group, numbers, numbers, 4, FANIN_FLOAT64, nullptr, nullptr));
    test::expect(std::count(numbers, numbers + 4, 6.0) == 4, "the sum is wrong");
    expect(fanin_free(group, data));
  });
  for (test::Child& child : children) EXPECT_EQ(child.outcome(), "");
}

TEST(CJoin, SaysWhatIsWrongWithItsOptions) {
  fanin_group* group = nullptr;
  fanin_join_options options{};
  expect_refused(FANIN_KIND_BAD_OPTION,
                 "fanin_join_options.size is 0; set it to sizeof(fanin_join_options), which is " +
                     std::to_string(sizeof options) + " here",
                 fanin_join(&options, &group));
  options = join_options();
  options.rank = 1;
  expect_refused(FANIN_KIND_BAD_OPTION,
                 HasSubstr("has a rank, but its world_size is 0; give rendezvous, rank and"),
                 fanin_join(&options, &group));
  options = join_options();
  options.rendezvous = "file:/x";
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("has a rendezvous, but its world_size is 0"),
                 fanin_join(&options, &group));
  options.world_size = -1;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("world size must be 1 or more, got -1"),
                 fanin_join(&options, &group));
  options.world_size = 2;
  options.rank = 2;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("rank 2 does not exist in a world of 2"),
                 fanin_join(&options, &group));
  options.rank = 0;
  options.rendezvous = nullptr;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("2 ranks need a rendezvous"),
                 fanin_join(&options, &group));
  options.timeout_seconds = -3;
  expect_refused(FANIN_KIND_BAD_OPTION, "the timeout must be above 0 seconds, got -3",
                 fanin_join(&options, &group));
  options = join_options();
  options.engine = "carrier pigeons";
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("\"carrier pigeons\" is no MPI library"),
                 fanin_join(&options, &group));
  options = join_options();
  options.communicator = &options;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("has no MPI library loaded"),
                 fanin_join(&options, &group));
  expect_refused(FANIN_KIND_BAD_OPTION, "the place for the group is NULL; give its address",
                 fanin_join(nullptr, nullptr));
}

TEST(CJoin, EndsByItsDeadline) {
  const test::Folder folder;
  const std::string rendezvous = "file:" + folder.socket().native();
  fanin_join_options options = join_options();
  options.rendezvous = rendezvous.c_str();
  options.world_size = 2;
  options.timeout_seconds = 0.05;
  fanin_group* group = nullptr;
  expect_error(FANIN_DEADLINE_EXCEEDED, FANIN_KIND_TIMEOUT, HasSubstr("rank 1"),
               fanin_join(&options, &group));
  EXPECT_EQ(group, nullptr);
}

TEST(CJoin, TakesOptionsOfANewerHeaderIfWhatIsNewIsZero) {
  struct Newer {
    fanin_join_options known;
    std::int64_t unknown;
  } newer{};
  newer.known.size = sizeof newer;
  newer.known.world_size = 1;
  fanin_group* group = nullptr;
  expect_ok(fanin_join(&newer.known, &group));
  fanin_group_free(group);
  newer.unknown = 1;
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("sets something that this version of Fanin"),
                 fanin_join(&newer.known, &group));
}

TEST(CGroup, SubgroupsAreForTheirMembers) {
  const Threads threads(3);
  threads.run([](fanin_group* group, int rank) {
    constexpr std::array<std::int32_t, 2> kRanks{2, 0};
    fanin_group* some = nullptr;
    expect_ok(fanin_subgroup(group, kRanks.data(), kRanks.size(), &some));
    EXPECT_EQ(some == nullptr, rank == 1);
    if (some == nullptr) return;
    std::int32_t found = -1;
    expect_ok(fanin_rank(some, &found));
    EXPECT_EQ(found, rank == 2 ? 0 : 1);
    std::int64_t sum = rank;
    expect_ok(fanin_all_reduce(some, &sum, &sum, 1, FANIN_INT64, nullptr, nullptr));
    EXPECT_EQ(sum, 2);
    fanin_group_free(some);
  });
}

TEST(CGroup, AWrongSubgroupIsRefusedOnAllRanks) {
  const Threads threads(2);
  const auto outcomes = threads.outcomes([](fanin_group* group, int rank) {
    const std::array<std::int32_t, 1> ranks{0};
    fanin_group* some = nullptr;
    return fanin_subgroup(group, rank == 0 ? nullptr : ranks.data(), 1, &some);
  });
  EXPECT_EQ(outcomes[0].message, "the list of ranks is NULL; give its address");
  EXPECT_EQ(outcomes[1].code, FANIN_INVALID_ARGUMENT);
  EXPECT_THAT(outcomes[1].message, HasSubstr("the list of ranks is NULL"));
}

TEST(CGroup, SurvivorsGoOnWithoutTheDead) {
  const test::Folder folder;
  auto children = three_processes(folder, [](fanin_group* group, int rank) {
    if (rank == 1) ::raise(SIGKILL);
    test::expect(fanin_barrier(group, nullptr) == FANIN_PEER_FAILURE, "nobody has died");
    test::expect(fanin_last_error_kind() == FANIN_KIND_PEER_DIED, fanin_last_error());
    test::expect(std::string(fanin_last_error()).find("rank 1") != std::string::npos,
                 fanin_last_error());
    fanin_group* rest = nullptr;
    test::expect(fanin_shrink(group, &rest) == FANIN_OK, fanin_last_error());
    std::int32_t size = 0;
    test::expect(fanin_size(rest, &size) == FANIN_OK && size == 2, "not two survivors");
    test::expect(fanin_barrier(rest, nullptr) == FANIN_OK, fanin_last_error());
    fanin_group_free(rest);
  });
  EXPECT_EQ(children[0].outcome(), "");
  EXPECT_EQ(children[1].outcome(), "signal 9");
  EXPECT_EQ(children[2].outcome(), "");
}

TEST(CGroup, MemoryIsAlignedAndFreedOnce) {
  const Threads threads(1);
  void* data = nullptr;
  expect_ok(fanin_allocate(threads[0], 1000, &data));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
  std::memset(data, 1, 1000);
  expect_ok(fanin_free(threads[0], data));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("free each address once"),
                 fanin_free(threads[0], data));
  expect_ok(fanin_free(threads[0], nullptr));
  expect_ok(fanin_allocate(threads[0], 0, &data));
  expect_ok(fanin_free(threads[0], data));
  expect_error(FANIN_UNAVAILABLE, FANIN_KIND_SYSTEM, testing::_,
               fanin_allocate(threads[0], std::size_t{1} << 62, &data));
  EXPECT_EQ(data, nullptr);
}

TEST(CGroup, MemoryOutlivesTheGroupAsLongAsOneThatWasMadeFromIt) {
  const test::Folder folder;
  const std::string rendezvous = "file:" + folder.socket().native();
  std::vector<test::Child> children;
  for (int rank = 0; rank < 2; ++rank)
    children.emplace_back([&] {
      fanin_join_options options = join_options();
      options.rendezvous = rendezvous.c_str();
      options.rank = rank;
      options.world_size = 2;
      fanin_group* group = nullptr;
      const auto expect = [](std::int32_t code) {
        test::expect(code == FANIN_OK, fanin_last_error());
      };
      expect(fanin_join(&options, &group));
      void* data = nullptr;
      expect(fanin_allocate(group, 1 << 20, &data));
      const std::array<std::int32_t, 2> ranks{0, 1};
      fanin_group* same = nullptr;
      expect(fanin_subgroup(group, ranks.data(), ranks.size(), &same));
      fanin_group_free(group);
      std::memset(data, rank, 1 << 20);
      expect(fanin_all_reduce(same, data, data, 1 << 20, FANIN_UINT8, nullptr, nullptr));
      test::expect(static_cast<unsigned char*>(data)[(1 << 20) - 1] == 1, "the sum is wrong");
      expect(fanin_free(same, data));
      fanin_group_free(same);
    });
  for (test::Child& child : children) EXPECT_EQ(child.outcome(), "");
}

TEST(CGroup, NullIsRefusedOrNothing) {
  const Threads threads(1);
  std::int32_t number = 0;
  void* data = nullptr;
  fanin_group* made = nullptr;
  const char* const kNoGroup = "the group is NULL; give its address";
  expect_refused(FANIN_KIND_BAD_OPTION, kNoGroup, fanin_rank(nullptr, &number));
  expect_refused(FANIN_KIND_BAD_OPTION, kNoGroup, fanin_size(nullptr, &number));
  expect_refused(FANIN_KIND_BAD_OPTION, kNoGroup, fanin_subgroup(nullptr, &number, 1, &made));
  expect_refused(FANIN_KIND_BAD_OPTION, kNoGroup, fanin_shrink(nullptr, &made));
  expect_refused(FANIN_KIND_BAD_OPTION, kNoGroup, fanin_allocate(nullptr, 1, &data));
  expect_refused(FANIN_KIND_BAD_OPTION, kNoGroup, fanin_free(nullptr, nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, kNoGroup, fanin_barrier(nullptr, nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("place for the rank is NULL"),
                 fanin_rank(threads[0], nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("place for the size is NULL"),
                 fanin_size(threads[0], nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("place for the address is NULL"),
                 fanin_allocate(threads[0], 1, nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("place for the group of survivors is NULL"),
                 fanin_shrink(threads[0], nullptr));
  fanin_group_free(nullptr);
}

}  // namespace
}  // namespace fanin::c_api
