#include "transports/message_bundle.h"

#include <gmock/gmock.h>

#include <string_view>

namespace fanin {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::vector<std::byte> written(std::span<const BundlePart> parts) {
  std::vector<std::byte> bytes(bundled_size(parts));
  write_bundle(parts, bytes);
  return bytes;
}

const std::vector<BundlePart> kParts = {{2, bytes_of("one")},
                                        {0, bytes_of("one")},
                                        {200, bytes_of("other")},
                                        {3, bytes_of("one")},
                                        {1, bytes_of("one")}};

TEST(MessageBundle, IsReadAsItWasWritten) {
  const std::vector<std::byte> bytes = written(kParts);
  const auto read = read_bundle(bytes);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), kParts.size());
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    EXPECT_EQ((*read)[i].rank, kParts[i].rank);
    EXPECT_TRUE(std::ranges::equal((*read)[i].said, kParts[i].said)) << i;
  }
  EXPECT_THAT(read_bundle({}), testing::Optional(testing::IsEmpty()));
}

TEST(MessageBundle, HasWhatRanksSayAlikeOnce) {
  EXPECT_EQ(written(kParts).size(), (2 + 3) + 2 + (3 + 5) + (2 + 3) + 2);
}

TEST(MessageBundle, TakesAsManyAsFit) {
  EXPECT_EQ(count_that_fit(kParts, 0), 1U);
  EXPECT_EQ(count_that_fit(kParts, 6), 1U);
  EXPECT_EQ(count_that_fit(kParts, 7), 2U);
  EXPECT_EQ(count_that_fit(kParts, 14), 2U);
  EXPECT_EQ(count_that_fit(kParts, 15), 3U);
  EXPECT_EQ(count_that_fit(kParts, 1000), 5U);
}

TEST(MessageBundle, ThatEndsTooEarlyIsNone) {
  const std::vector<BundlePart> parts(kParts.begin(), kParts.begin() + 3);
  const std::vector<std::byte> bytes = written(parts);
  for (const std::size_t size : {1, 2, 3, 4, 6, 8, 9, 10, 14})
    EXPECT_FALSE(read_bundle(std::span(bytes).first(size))) << size;
}

TEST(MessageBundle, ThatRepeatsNothingIsNone) {
  EXPECT_FALSE(read_bundle(std::vector{std::byte{1}, std::byte{0}}));
}

}  // namespace
}  // namespace fanin
