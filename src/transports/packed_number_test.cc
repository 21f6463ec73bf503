#include "transports/packed_number.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace fanin {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::vector<std::byte> packed(std::uint64_t number) {
  std::vector<std::byte> bytes(kMostNumberBytes);
  const std::byte* const end = pack_number(number, bytes.data());
  bytes.resize(static_cast<std::size_t>(end - bytes.data()));
  return bytes;
}

TEST(PackedNumber, IsUnpackedAsItWasPacked) {
  for (int bits = 0; bits < 64; ++bits)
    for (const std::uint64_t number :
         {std::uint64_t{1} << bits, (std::uint64_t{1} << bits) - 1, kMost >> bits}) {
      std::vector<std::byte> bytes = packed(number);
      EXPECT_EQ(bytes.size(), packed_size(number));
      bytes.push_back(std::byte{0x85});  // what follows
      std::span<const std::byte> rest = bytes;
      EXPECT_EQ(unpack_number(rest), number);
      EXPECT_EQ(rest.size(), 1U);
    }
}

TEST(PackedNumber, TakesAsManyBytesAsItMust) {
  EXPECT_EQ(packed_size(0), 1U);
  EXPECT_EQ(packed_size(127), 1U);
  EXPECT_EQ(packed_size(128), 2U);
  EXPECT_EQ(packed_size(kMost), kMostNumberBytes);
}

TEST(PackedNumber, ThatEndsTooEarlyIsNone) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{300}, kMost}) {
    const std::vector<std::byte> bytes = packed(number);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      std::span<const std::byte> rest = std::span(bytes).first(size);
      EXPECT_FALSE(unpack_number(rest));
    }
  }
}

TEST(PackedNumber, AboveSixtyFourBitsIsNone) {
  std::array<std::byte, kMostNumberBytes + 1> bytes;
  bytes.fill(std::byte{0xff});
  std::span<const std::byte> rest = bytes;
  EXPECT_FALSE(unpack_number(rest));
  bytes[kMostNumberBytes - 1] = std::byte{2};
  EXPECT_FALSE(unpack_number(rest));
  bytes[kMostNumberBytes - 1] = std::byte{1};
  EXPECT_EQ(unpack_number(rest), kMost);
}

}  // namespace
}  // namespace fanin
