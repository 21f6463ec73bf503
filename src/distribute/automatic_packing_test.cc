#include "fanin/automatic_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distribute/test_groups.h"

namespace fanin {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(AutomaticPacking, BalancesManyPacksAgainstALateEnd) {
  // 100 MB at 10 GB/s and 10 us a pack: sqrt(1e8 * 1e-5 / 1e-10) = 3.2 MB.
  const AutomaticPacking packing = choose_packing(100'000'000, {1e-5, 1e-10});
  EXPECT_EQ(packing.bytes_per_pack, 4 << 20);
  EXPECT_THAT(packing.reason,
              AllOf(HasSubstr("4.19 MB"), HasSubstr("10.0 us"), HasSubstr("100 MB")));
  EXPECT_EQ(choose_packing(100'000'000, {16e-5, 1e-10}).bytes_per_pack, 16 << 20);
  EXPECT_EQ(choose_packing(100'000'000, {1e-5, 16e-10}).bytes_per_pack, 1 << 20);
}

TEST(AutomaticPacking, StaysWithinReason) {
  EXPECT_EQ(choose_packing(0, {1e-5, 1e-10}).bytes_per_pack, 64 << 10);
  EXPECT_EQ(choose_packing(1'000'000'000, {0, 1e-10}).bytes_per_pack, 64 << 10);
  EXPECT_EQ(choose_packing(1'000'000'000, {1e-5, 0}).bytes_per_pack, 256 << 20);
}

TEST(AutomaticPacking, IsTheSameForAllRanks) {
  std::vector<Group> groups = in_process(3);
  std::vector<PackCost> costs(3);
  test::on_all_ranks(groups, [&](Group& group) {
    costs[static_cast<std::size_t>(group.rank())] = measure_pack_cost(group);
  });
  EXPECT_GT(costs[0].seconds, 0);
  EXPECT_EQ(costs[1], costs[0]);
  EXPECT_EQ(costs[2], costs[0]);
}

}  // namespace
}  // namespace fanin
