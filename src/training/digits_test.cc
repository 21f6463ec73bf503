#include "training/digits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/expect_error.h"
#include "training/random.h"

namespace fanin::training {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Le;
using testing::Lt;
using testing::SizeIs;

TEST(Digits, AreThoseOfTheSet) {
  const Digits digits = load_digits();
  EXPECT_EQ(digits.count(), 1797U);
  EXPECT_THAT(digits.pixels, SizeIs(1797 * 64));
  EXPECT_THAT(digits.pixels, Each(Le(16)));
  EXPECT_THAT(digits.labels, Each(Lt(10)));
  // The sum of all pixels and the images of each digit, as counted in the file of scikit-learn.
  EXPECT_EQ(std::accumulate(digits.pixels.begin(), digits.pixels.end(), 0), 561718);
  std::vector<int> image_counts(10);
  for (const std::uint8_t label : digits.labels) ++image_counts[label];
  EXPECT_THAT(image_counts, ElementsAre(178, 182, 177, 183, 181, 182, 181, 179, 174, 180));
  EXPECT_EQ(digits.labels[1796], 8);
  const auto third_row = digits.image(0).subspan(16, 8);
  EXPECT_TRUE(std::ranges::equal(third_row, std::vector<int>{0, 3, 15, 2, 0, 11, 8, 0}));
}

TEST(Digits, AreSplitOnceAndForAll) {
  const Digits digits = load_digits();
  EXPECT_THAT(digits.train, SizeIs(1437));
  EXPECT_THAT(digits.test, SizeIs(360));
  std::set<std::size_t> all(digits.train.begin(), digits.train.end());
  all.insert(digits.test.begin(), digits.test.end());
  EXPECT_THAT(all, SizeIs(1797));
  EXPECT_EQ(*all.rbegin(), 1796U);
  // A split that moves would make results of different versions incomparable.
  EXPECT_THAT(std::vector(digits.test.begin(), digits.test.begin() + 4),
              ElementsAre(218, 1465, 973, 949));
}

TEST(Batches, AreAPermutationLessTheRest) {
  const std::vector<std::size_t> images = {5, 10, 15, 20, 25, 30, 35};
  const auto epoch = batches(images, 1, 0, 3);
  ASSERT_THAT(epoch, ElementsAre(SizeIs(3), SizeIs(3)));
  std::set<std::size_t> seen(epoch[0].begin(), epoch[0].end());
  seen.insert(epoch[1].begin(), epoch[1].end());
  EXPECT_THAT(seen, SizeIs(6));
  for (const std::size_t image : seen) EXPECT_EQ(std::ranges::count(images, image), 1);
  EXPECT_THAT(batches(images, 1, 0, 7), ElementsAre(SizeIs(7)));
}

TEST(Batches, FollowFromSeedAndEpoch) {
  const Digits digits = load_digits();
  const auto epoch = [&](std::uint64_t seed, std::uint64_t number) {
    return batches(digits.train, seed, number, 64);
  };
  EXPECT_EQ(epoch(3, 4), epoch(3, 4));
  EXPECT_NE(epoch(3, 4), epoch(3, 5));
  EXPECT_NE(epoch(3, 4), epoch(4, 4));
  EXPECT_NE(epoch(3, 4), epoch(4, 3));
}

TEST(Batches, NeedImages) {
  const std::vector<std::size_t> images = {1, 2};
  for (const std::size_t size : {0U, 3U})
    expect_error(ErrorKind::kBadOption,
                 fmt::format("A batch of {} images cannot be made of 2: it has at least one and at "
                             "most all of them",
                             size),
                 [&] { batches(images, 1, 0, size); });
}

// The published first numbers of splitmix64 for the seed 1234567.
TEST(Random, IsSplitmix64) {
  Random random(1234567);
  EXPECT_EQ(random.bits(), 6457827717110365317U);
  EXPECT_EQ(random.bits(), 3203168211198807973U);
  EXPECT_EQ(random.bits(), 9817491932198370423U);
}

TEST(Random, StaysWithinItsBounds) {
  Random random(1);
  std::vector<int> counts(3);
  float least = 1;
  float most = -1;
  for (int i = 0; i < 3000; ++i) {
    ++counts[random.below(3)];
    const float number = random.between_minus_one_and_one();
    least = std::min(least, number);
    most = std::max(most, number);
  }
  EXPECT_THAT(counts, Each(testing::AllOf(testing::Gt(900), testing::Lt(1100))));
  EXPECT_GE(least, -1.0F);
  EXPECT_LT(least, -0.99F);
  EXPECT_LT(most, 1.0F);
  EXPECT_GT(most, 0.99F);
}

}  // namespace
}  // namespace fanin::training
