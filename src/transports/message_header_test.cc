#include "transports/message_header.h"

#include <gmock/gmock.h>

#include <vector>

namespace fanin {
namespace {

using Kind = MessageHeader::Kind;

std::vector<std::byte> written(const MessageHeader& header) {
  std::vector<std::byte> bytes(size_of(header));
  write(header, bytes);
  return bytes;
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
  EXPECT_TRUE(read_header(with(0, 6)));
  EXPECT_FALSE(read_header(with(0, 7)));  // kinds
  EXPECT_FALSE(read_header(with(2, 7)));  // words
  EXPECT_TRUE(read_header(with(3, 0)));   // channels
  EXPECT_FALSE(read_header(with(3, 64)));
}

// Of a sum of a few bytes between hosts, this is what crosses the wire.
TEST(MessageHeader, IsShort) {
  EXPECT_EQ(size_of({.kind = Kind::kFlag, .words = {1}}), 40U);
  EXPECT_EQ(size_of({.kind = Kind::kFlag, .words = {0, 0, 1}}), 56U);
  EXPECT_EQ(size_of({.kind = Kind::kData}), 40U);
  EXPECT_EQ(size_of({.kind = Kind::kBundle}), 24U);
}

}  // namespace
}  // namespace fanin
