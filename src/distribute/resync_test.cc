#include "fanin/resync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distribute/test_groups.h"

namespace fanin {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Resync, MakesParametersEqualAgain) {
  std::vector<Group> groups = in_process(3);
  std::vector<std::string> errors(3);
  std::vector<std::uint64_t> hashes(3);
  test::on_all_ranks(groups, [&](Group& group) {
    const auto rank = static_cast<std::size_t>(group.rank());
    std::vector<float> first = {1, 2};
    std::vector<std::int8_t> second = {1, 2, static_cast<std::int8_t>(rank == 2 ? 9 : 3)};
    const std::vector<TensorView> views = {
        TensorView::over(std::span<float>(first), Shape{2}),
        TensorView::over(std::span<std::int8_t>(second), Shape{3})};
    errors[rank] = test::error_of([&] { require_equal(group, views); });
    resync(group, views, 2);
    EXPECT_THAT(second, ElementsAre(1, 2, 9));
    hashes[rank] = require_equal(group, views);
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("rank 0 and rank 2 are no longer equal"),
                                 HasSubstr("resync() makes them so"))));
  EXPECT_THAT(hashes, Each(hashes[0]));
}

TEST(Resync, OfVariables) {
  std::vector<Group> groups = in_process(2);
  test::on_all_ranks(groups, [&](Group& group) {
    std::vector<Variable> variables;
    variables.emplace_back(test::filled<float>(3, static_cast<float>(group.rank())), "a");
    variables.emplace_back(test::filled<double>(1, group.rank() + 5.0),
                           std::vector<Device>{parse_device("/cpu:0"), parse_device("/cpu:1")});
    resync(group, variables, 1);
    EXPECT_THAT(variables[0].value().to_vector<float>(), Each(1));
    EXPECT_THAT(variables[1].value(parse_device("/cpu:1")).to_vector<double>(), Each(6));
  });
}

TEST(Resync, HashTellsEveryBit) {
  std::vector<std::uint8_t> bytes(21);
  const auto hash = [&] {
    return hash_of(std::vector{TensorView::over(std::span<std::uint8_t>(bytes), Shape{21})});
  };
  const std::uint64_t before = hash();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = 128;
    EXPECT_NE(hash(), before) << i;
    bytes[i] = 0;
  }
  EXPECT_EQ(hash(), before);
}

}  // namespace
}  // namespace fanin
