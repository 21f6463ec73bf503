#include "transports/message_header.h"

#include <gmock/gmock.h>

#include <vector>

#include "transports/packed_number.h"

namespace fanin {
namespace {

using Kind = MessageHeader::Kind;

std::vector<std::byte> written(const MessageHeader& header) {
  const HeaderBytes bytes = to_bytes(header);
  return {bytes.bytes().begin(), bytes.bytes().end()};
}

std::vector<MessageHeader> examples() {
  constexpr std::uint64_t kMuch = ~std::uint64_t{0};
  const MessageHeader said{.kind = Kind::kFlag,
                           .channel = 63,
                           .opening = kMuch,
                           .value = kMuch - 1,
                           .flag = 63,
                           .offset = kMuch - 2,
                           .words = {1, 0, 3, 4, 0, kMuch}};
  MessageHeader noted = said;
  noted.kind = Kind::kFlagAndNote;
  noted.words = {};
  return {said,
          noted,
          {.kind = Kind::kBundle, .channel = 1, .opening = 5},
          {.kind = Kind::kSum, .channel = 2, .opening = kMuch},
          {.kind = Kind::kData,
           .channel = 2,
           .opening = 6,
           .epoch = kMuch - 3,
           .name = {.wave = kMuch - 4, .from = 1 << 30, .to = 7, .number = -1}},
          {.kind = Kind::kDone, .channel = 3, .opening = 7, .epoch = 8, .value = 9},
          {.kind = Kind::kEnd, .channel = 4, .opening = 8, .epoch = 9, .value = 10, .ender = 11},
          {.kind = Kind::kLeave, .channel = 5, .opening = 9}};
}

TEST(MessageHeader, IsReadAsItWasWritten) {
  for (const MessageHeader& header : examples()) {
    std::vector<std::byte> bytes = written(header);
    bytes.push_back(std::byte{77});  // the content
    const auto read = read_header(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->header, header);
    EXPECT_EQ(read->size, bytes.size() - 1);
  }
}

TEST(MessageHeader, ThatEndsTooEarlyIsNone) {
  for (const MessageHeader& header : examples()) {
    const std::vector<std::byte> bytes = written(header);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(read_header(std::span(bytes).first(size)));
  }
}

TEST(MessageHeader, OfNoKindOrChannelIsNone) {
  const std::vector<std::byte> good = written(examples().front());
  const auto with = [&](std::size_t place, int value) {
    std::vector<std::byte> bytes = good;
    bytes[place] = static_cast<std::byte>(value);
    return bytes;
  };
  EXPECT_TRUE(read_header(with(0, 7)));
  EXPECT_FALSE(read_header(with(0, 8)));     // kinds
  EXPECT_FALSE(read_header(with(0, 0x70)));  // words
  EXPECT_FALSE(read_header(with(0, 0x14)));  // words where there are none
  EXPECT_TRUE(read_header(with(1, 0)));      // channels
  EXPECT_FALSE(read_header(with(1, 64)));
}

TEST(MessageHeader, WithARankAboveThirtyTwoBitsIsNone) {
  std::vector<std::byte> bytes = written({.kind = Kind::kEnd, .epoch = 1, .value = 2});
  bytes.pop_back();
  bytes.resize(bytes.size() + 10);
  pack_number(std::uint64_t{1} << 32, &bytes[bytes.size() - 10]);
  EXPECT_FALSE(read_header(bytes));
}

// Of a sum of a few bytes between hosts, this is what crosses the wire.
TEST(MessageHeader, IsShort) {
  const auto size_of = [](const MessageHeader& header) { return to_bytes(header).size; };
  EXPECT_EQ(size_of({.kind = Kind::kFlag, .value = 1000, .words = {1}}), 16U);
  EXPECT_EQ(size_of({.kind = Kind::kFlag, .value = 1000, .words = {0, 0, 1}}), 32U);
  EXPECT_EQ(size_of({.kind = Kind::kBundle}), 3U);
}

// So that it can be computed with where it is.
TEST(MessageHeader, OfFlagsAndDataKeepsTheContentAligned) {
  EXPECT_EQ(to_bytes({.kind = Kind::kData, .epoch = 3, .name = {.wave = 1000}}).size, 16U);
  for (const Kind kind : {Kind::kFlag, Kind::kFlagAndNote, Kind::kData})
    for (int bits = 0; bits < 64; ++bits)
      EXPECT_EQ(to_bytes({.kind = kind, .opening = std::uint64_t{1} << bits}).size % 8, 0U);
}

}  // namespace
}  // namespace fanin
