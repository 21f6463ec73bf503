#include <array>
#include <numeric>
#include <vector>

#include "c_api/test_c_groups.h"

namespace fanin::c_api {
namespace {

using test::call_options;
using test::expect_ok;
using test::expect_refused;
using test::Outcome;
using test::Threads;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr int kRanks = 3;
using Numbers = std::vector<double>;

/// Elements that say whose they are: 100 * rank + index.
Numbers numbers_of(int rank, std::size_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 100.0 * rank);
  return numbers;
}

/// The sum of numbers_of() over all ranks.
Numbers sum_of_all(std::size_t count) {
  Numbers sum(count);
  for (int rank = 0; rank < kRanks; ++rank)
    std::ranges::transform(sum, numbers_of(rank, count), sum.begin(), std::plus<>());
  return sum;
}

Numbers part(const Numbers& numbers, std::size_t begin, std::size_t count) {
  const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

/// Runs `test(group, rank, finish)` as ranks, blocking and by handles. It gives `finish` the call,
/// which takes the place for a handle.
using Call = std::function<std::int32_t(fanin_handle**)>;
using Finish = std::function<std::int32_t(const Call&)>;
void in_both_ways(const std::function<void(fanin_group*, int, const Finish&)>& test) {
  const Finish blocking = [](const Call& call) { return call(nullptr); };
  const Finish by_handle = [](const Call& call) {
    fanin_handle* handle = nullptr;
    const std::int32_t begun = call(&handle);
    const std::int32_t done = begun == FANIN_OK ? fanin_handle_wait(handle) : begun;
    fanin_handle_free(handle);
    return done;
  };
  const Threads threads(kRanks);
  for (const Finish& finish : {blocking, by_handle})
    threads.run([&](fanin_group* group, int rank) { test(group, rank, finish); });
}

TEST(CCollectives, AllReduceGivesAllTheReduction) {
  in_both_ways([](fanin_group* group, int rank, const Finish& finish) {
    const Numbers input = numbers_of(rank, 5);
    Numbers output(5);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_all_reduce(group, input.data(), output.data(), 5, FANIN_FLOAT64, nullptr,
                              handle);
    }));
    EXPECT_EQ(output, sum_of_all(5));
    EXPECT_EQ(input, numbers_of(rank, 5));

    Numbers both = numbers_of(rank, 5);
    fanin_call_options options = call_options();
    options.op = FANIN_MAX;
    options.algorithm = "ring";
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_all_reduce(group, both.data(), both.data(), 5, FANIN_FLOAT64, &options, handle);
    }));
    EXPECT_EQ(both, numbers_of(kRanks - 1, 5));
  });
}

TEST(CCollectives, MeansOfIntegersAreFloats) {
  in_both_ways([](fanin_group* group, int rank, const Finish& finish) {
    const std::array<std::int32_t, 1> input{rank == 0 ? 1 : 0};
    std::array<double, 1> mean{};
    fanin_call_options options = call_options();
    options.op = FANIN_MEAN;
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_all_reduce(group, input.data(), mean.data(), 1, FANIN_INT32, &options, handle);
    }));
    EXPECT_EQ(mean[0], 1.0 / 3);
    mean[0] = 0;
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_reduce(group, input.data(), rank == 1 ? mean.data() : nullptr, 1, FANIN_INT32, 1,
                          &options, handle);
    }));
    EXPECT_EQ(mean[0], rank == 1 ? 1.0 / 3 : 0);
  });
}

TEST(CCollectives, ReduceGivesTheRootTheReduction) {
  in_both_ways([](fanin_group* group, int rank, const Finish& finish) {
    const Numbers input = numbers_of(rank, 4);
    Numbers output(4);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_reduce(group, input.data(), rank == 2 ? output.data() : nullptr, 4,
                          FANIN_FLOAT64, 2, nullptr, handle);
    }));
    EXPECT_EQ(output, rank == 2 ? sum_of_all(4) : Numbers(4));
  });
}

TEST(CCollectives, ReduceScatterGivesEachItsPart) {
  in_both_ways([](fanin_group* group, int rank, const Finish& finish) {
    const Numbers input = numbers_of(rank, 2 * kRanks);
    Numbers output(2);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_reduce_scatter(group, input.data(), output.data(), 2, FANIN_FLOAT64, nullptr,
                                  handle);
    }));
    EXPECT_EQ(output, part(sum_of_all(6), 2 * static_cast<std::size_t>(rank), 2));
  });
}

// The parts of three ranks, one of them empty.
constexpr std::array<std::int64_t, kRanks> kExtents{3, 0, 1};
constexpr std::array<std::size_t, kRanks> kStarts{0, 3, 3};
std::size_t extent_of(int rank) {
  return static_cast<std::size_t>(kExtents[static_cast<std::size_t>(rank)]);
}

TEST(CCollectives, PartsMayHaveExtents) {
  in_both_ways([](fanin_group* group, int rank, const Finish& finish) {
    fanin_call_options options = call_options();
    options.extents = kExtents.data();
    const std::size_t mine = extent_of(rank);
    const std::size_t start = kStarts[static_cast<std::size_t>(rank)];
    const Numbers all = numbers_of(rank, 4);
    Numbers output(mine);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_reduce_scatter(group, all.data(), output.data(), mine, FANIN_FLOAT64, &options,
                                  handle);
    }));
    EXPECT_EQ(output, part(sum_of_all(4), start, mine));

    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_scatter(group, rank == 1 ? all.data() : nullptr, output.data(), mine,
                           FANIN_FLOAT64, 1, &options, handle);
    }));
    EXPECT_EQ(output, part(numbers_of(1, 4), start, mine));

    Numbers gathered(4);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_all_gather(group, output.data(), gathered.data(), mine, FANIN_FLOAT64, &options,
                              handle);
    }));
    EXPECT_EQ(gathered, numbers_of(1, 4));
    gathered.assign(4, -1);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_gather(group, output.data(), rank == 0 ? gathered.data() : nullptr, mine,
                          FANIN_FLOAT64, 0, &options, handle);
    }));
    EXPECT_EQ(gathered, rank == 0 ? numbers_of(1, 4) : Numbers(4, -1));
  });
}

TEST(CCollectives, BroadcastGivesAllWhatTheRootHas) {
  in_both_ways([](fanin_group* group, int rank, const Finish& finish) {
    Numbers data = numbers_of(rank, 4);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_broadcast(group, data.data(), 4, FANIN_FLOAT64, 1, nullptr, handle);
    }));
    EXPECT_EQ(data, numbers_of(1, 4));
  });
}

TEST(CCollectives, GathersPutThePartsInTheOrderOfTheRanks) {
  in_both_ways([](fanin_group* group, int rank, const Finish& finish) {
    const Numbers input = numbers_of(rank, 2);
    Numbers output(6);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_all_gather(group, input.data(), output.data(), 2, FANIN_FLOAT64, nullptr,
                              handle);
    }));
    EXPECT_THAT(output, ElementsAre(0, 1, 100, 101, 200, 201));
    output.assign(6, -1);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_gather(group, input.data(), rank == 2 ? output.data() : nullptr, 2,
                          FANIN_FLOAT64, 2, nullptr, handle);
    }));
    if (rank == 2)
      EXPECT_THAT(output, ElementsAre(0, 1, 100, 101, 200, 201));
    else
      EXPECT_THAT(output, Each(-1));
  });
}

TEST(CCollectives, ScatterDealsOutWhatTheRootHas) {
  in_both_ways([](fanin_group* group, int rank, const Finish& finish) {
    const Numbers input = numbers_of(rank, 6);
    Numbers output(2);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_scatter(group, rank == 0 ? input.data() : nullptr, output.data(), 2,
                           FANIN_FLOAT64, 0, nullptr, handle);
    }));
    EXPECT_THAT(output, ElementsAre(2 * rank, 2 * rank + 1));
  });
}

TEST(CCollectives, AllToAllGivesEachRankAPartOfEach) {
  in_both_ways([](fanin_group* group, int rank, const Finish& finish) {
    const Numbers input = numbers_of(rank, kRanks);
    Numbers output(kRanks);
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_all_to_all(group, input.data(), output.data(), 1, FANIN_FLOAT64, nullptr,
                              handle);
    }));
    EXPECT_THAT(output, ElementsAre(rank, 100 + rank, 200 + rank));
  });
}

TEST(CCollectives, NothingCanBeReducedAndMoved) {
  in_both_ways([](fanin_group* group, int, const Finish& finish) {
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_all_reduce(group, nullptr, nullptr, 0, FANIN_FLOAT32, nullptr, handle);
    }));
    expect_ok(finish([&](fanin_handle** handle) {
      return fanin_all_gather(group, nullptr, nullptr, 0, FANIN_FLOAT32, nullptr, handle);
    }));
  });
}

TEST(CCollectives, BarrierComparesTheStep) {
  const Threads threads(2);
  const auto meet = [](fanin_group* group, std::int64_t step) {
    fanin_call_options options = call_options();
    options.has_step = 1;
    options.step = step;
    return fanin_barrier(group, &options);
  };
  for (const Outcome& each :
       threads.outcomes([&](fanin_group*group, int) { return meet(group, 0); }))
    EXPECT_EQ(each.code, FANIN_OK) << each.message;
  for (const Outcome& each :
       threads.outcomes([&](fanin_group*group, int rank) { return meet(group, rank); })) {
    EXPECT_EQ(each.kind, FANIN_KIND_RANK_MISMATCH);
    EXPECT_THAT(each.message, HasSubstr("step"));
  }
}

TEST(CCollectives, EndByTheirDeadline) {
  const Threads threads(2);
  fanin_call_options options = call_options();
  options.timeout_seconds = 0.02;
  test::expect_error(FANIN_DEADLINE_EXCEEDED, FANIN_KIND_TIMEOUT, HasSubstr("rank 1"),
                     fanin_barrier(threads[0], &options));
}

/// All eight, as one rank of a group calls them with these arguments.
using Collective = std::function<std::int32_t(fanin_group*, const void*, void*, std::size_t,
                                              std::int32_t, const fanin_call_options*)>;
struct Named {
  const char* name;
  Collective call;
  bool reduces;
};
std::vector<Named> all_collectives() {
  const auto rootless = [](auto call) {
    return [call](fanin_group* group, const void* input, void* output, std::size_t count,
                  std::int32_t dtype, const fanin_call_options* options) {
      return call(group, input, output, count, dtype, options, nullptr);
    };
  };
  const auto rooted = [](auto call) {
    return [call](fanin_group* group, const void* input, void* output, std::size_t count,
                  std::int32_t dtype, const fanin_call_options* options) {
      return call(group, input, output, count, dtype, 0, options, nullptr);
    };
  };
  return {{"all_reduce", rootless(fanin_all_reduce), true},
          {"reduce", rooted(fanin_reduce), true},
          {"reduce_scatter", rootless(fanin_reduce_scatter), true},
          {"broadcast",
           [](fanin_group* group, const void*, void* output, std::size_t count, std::int32_t dtype,
              const fanin_call_options* options) {
             return fanin_broadcast(group, output, count, dtype, 0, options, nullptr);
           },
           false},
          {"all_gather", rootless(fanin_all_gather), false},
          {"gather", rooted(fanin_gather), false},
          {"scatter", rooted(fanin_scatter), false},
          {"all_to_all", rootless(fanin_all_to_all), false}};
}

TEST(CCollectives, EachSaysWhatIsWrongWithItsArguments) {
  const Threads threads(1);
  float number = 1;
  float other = 1;
  for (const Named& each : all_collectives()) {
    SCOPED_TRACE(each.name);
    const auto call = [&](const void* input, void* output, std::size_t count, std::int32_t dtype,
                          const fanin_call_options* options = nullptr) {
      return each.call(threads[0], input, output, count, dtype, options);
    };
    expect_refused(FANIN_KIND_BAD_OPTION,
                   HasSubstr(std::string(each.name) + " is NULL, but has 1 elements; give their"),
                   call(nullptr, nullptr, 1, FANIN_FLOAT32));
    if (std::string(each.name) != "broadcast")
      expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr(std::string("the output of ") + each.name),
                     call(&number, nullptr, 1, FANIN_FLOAT32));
    for (const std::int32_t dtype : {-1, 12, 258})
      expect_refused(FANIN_KIND_BAD_OPTION,
                     "dtype " + std::to_string(dtype) +
                         " is none; use one from FANIN_FLOAT16 (0) to FANIN_UINT64 (11)",
                     call(&number, &other, 1, dtype));
    expect_refused(FANIN_KIND_SHAPE_MISMATCH, HasSubstr("more than memory can address"),
                   call(&number, &other, SIZE_MAX / 4, FANIN_FLOAT32));

    fanin_call_options options = call_options();
    options.op = 256;
    expect_refused(each.reduces ? FANIN_KIND_BAD_REDUCE_OP : FANIN_KIND_BAD_OPTION,
                   each.reduces ? HasSubstr("op 256 of ") : HasSubstr("options.op is set, but"),
                   call(&number, &other, 1, FANIN_FLOAT32, &options));
    options = call_options();
    options.accumulation = 2;
    expect_refused(FANIN_KIND_BAD_OPTION,
                   each.reduces ? HasSubstr("accumulation 2 of ") : HasSubstr("no use for it"),
                   call(&number, &other, 1, FANIN_FLOAT32, &options));
    options = call_options();
    options.algorithm = "bucket brigade";
    expect_refused(FANIN_KIND_BAD_SPEC, HasSubstr("bucket brigade"),
                   call(&number, &other, 1, FANIN_FLOAT32, &options));
    options = call_options();
    options.timeout_seconds = -1;
    expect_refused(FANIN_KIND_BAD_OPTION, "a timeout must be above 0 s, got -1 s",
                   call(&number, &other, 1, FANIN_FLOAT32, &options));
    options = call_options();
    options.size = 8;
    expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("fanin_call_options.size is 8; set it to"),
                   call(&number, &other, 1, FANIN_FLOAT32, &options));
    expect_refused(FANIN_KIND_BAD_OPTION, "the group is NULL; give its address",
                   each.call(nullptr, &number, &other, 1, FANIN_FLOAT32, nullptr));
  }
}

TEST(CCollectives, ExtentsMustFit) {
  const Threads threads(1);
  std::array<float, 4> in{};
  std::array<float, 4> out{};
  fanin_call_options options = call_options();
  std::int64_t extent = 2;
  options.extents = &extent;
  const auto call = [&](auto collective) {
    return collective(threads[0], in.data(), out.data(), 1, FANIN_FLOAT32, &options, nullptr);
  };
  expect_refused(FANIN_KIND_SHAPE_MISMATCH, HasSubstr("rank 0 has 2 rows to give"),
                 call(fanin_all_gather));
  expect_refused(FANIN_KIND_SHAPE_MISMATCH, HasSubstr("shape [1], but its result has [2]"),
                 call(fanin_reduce_scatter));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("all_reduce has no parts"),
                 call(fanin_all_reduce));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("all parts of an all_to_all are equal"),
                 call(fanin_all_to_all));
  extent = -1;
  expect_refused(FANIN_KIND_SHAPE_MISMATCH, HasSubstr("negative"), call(fanin_all_gather));
}

TEST(CCollectives, RootsAndOverlapsAreCheckedAsInCpp) {
  const Threads threads(1);
  std::array<float, 4> data{};
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("rank 1 does not exist in a group of 1"),
                 fanin_broadcast(threads[0], data.data(), 4, FANIN_FLOAT32, 1, nullptr, nullptr));
  expect_refused(FANIN_KIND_BAD_OPTION, HasSubstr("overlaps its input"),
                 fanin_all_reduce(threads[0], data.data(), data.data() + 1, 3, FANIN_FLOAT32,
                                  nullptr, nullptr));
}

TEST(CCollectives, WhatOneRankIsRefusedTheOthersAreTold) {
  const Threads threads(3);
  for (int round = 0; round < 2; ++round) {
    const std::vector<Outcome> outcomes = threads.outcomes([](fanin_group* group, int rank) {
      std::array<float, 1> data{};
      return fanin_all_reduce(group, rank == 1 ? nullptr : data.data(), data.data(), 1,
                              FANIN_FLOAT32, nullptr, nullptr);
    });
    EXPECT_EQ(outcomes[1].message,
              "the input of all_reduce is NULL, but has 1 elements; give their address");
    for (const int rank : {0, 2}) {
      EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].code, FANIN_INVALID_ARGUMENT);
      EXPECT_THAT(outcomes[static_cast<std::size_t>(rank)].message,
                  HasSubstr("the input of all_reduce is NULL, but has 1 elements"));
    }
  }
  for (const Outcome& each :
       threads.outcomes([](fanin_group*group, int) { return fanin_barrier(group, nullptr); }))
    EXPECT_EQ(each.code, FANIN_OK) << each.message;
}

}  // namespace
}  // namespace fanin::c_api
