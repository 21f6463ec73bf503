#include "transports/message_header.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "transports/packed_number.h"

namespace fanin {
namespace {

using Kind = MessageHeader::Kind;

// What a message begins with: the kind and the number of words in one byte, the channel in another.
constexpr int kKindBits = 4;

// Content of flags and data is computed with where it is.
constexpr std::size_t kContentAlignment = 8;

bool is_flag(Kind kind) { return kind == Kind::kFlag || kind == Kind::kFlagAndNote; }

std::size_t word_count(const MessageHeader& header) {
  if (!is_flag(header.kind)) return 0;
  std::size_t count = header.words.size();
  while (count > 0 && header.words[count - 1] == 0) --count;
  return count;
}

/// With what is between a header and its content.
std::size_t aligned(std::size_t size, Kind kind) {
  if (!is_flag(kind) && kind != Kind::kData) return size;
  return (size + kContentAlignment - 1) / kContentAlignment * kContentAlignment;
}

std::uint64_t to_number(std::int32_t value) { return static_cast<std::uint32_t>(value); }

/// Takes numbers from the beginning of bytes. After one that is not there, all are 0.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint64_t number() {
    const auto found = unpack_number(rest_);
    if (!found) fail();
    return found.value_or(0);
  }

  std::int32_t small_number() {
    const std::uint64_t found = number();
    if (found > std::numeric_limits<std::uint32_t>::max()) fail();
    return static_cast<std::int32_t>(found);
  }

  std::byte byte() {
    std::byte value = {};
    copy(std::span(&value, 1));
    return value;
  }

  std::uint64_t word() {
    std::uint64_t value = 0;
    copy(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  void skip(std::size_t size) {
    if (size > rest_.size()) return fail();
    rest_ = rest_.subspan(size);
  }

  bool has_failed() const { return has_failed_; }
  std::size_t rest_size() const { return rest_.size(); }

 private:
  void copy(std::span<std::byte> to) {
    if (to.size() > rest_.size()) return fail();
    std::ranges::copy(rest_.first(to.size()), to.begin());
    rest_ = rest_.subspan(to.size());
  }

  void fail() {
    has_failed_ = true;
    rest_ = {};
  }

  std::span<const std::byte> rest_;
  bool has_failed_ = false;
};

}  // namespace

HeaderBytes to_bytes(const MessageHeader& header) {
  HeaderBytes bytes;
  const std::size_t words = word_count(header);
  std::byte* to = bytes.room.data();
  *to++ = static_cast<std::byte>(static_cast<std::size_t>(header.kind) | words << kKindBits);
  *to++ = static_cast<std::byte>(header.channel);
  to = pack_number(header.opening, to);
  switch (header.kind) {
    case Kind::kFlag:
    case Kind::kFlagAndNote:
      *to++ = static_cast<std::byte>(header.flag);
      to = pack_number(header.value, to);
      to = pack_number(header.offset, to);
      std::memcpy(to, header.words.data(), words * sizeof header.words[0]);
      to += words * sizeof header.words[0];
      break;
    case Kind::kData:
      to = pack_number(header.epoch, to);
      to = pack_number(header.name.wave, to);
      to = pack_number(to_number(header.name.from), to);
      to = pack_number(to_number(header.name.to), to);
      to = pack_number(to_number(header.name.number), to);
      break;
    case Kind::kDone:
    case Kind::kEnd:
      to = pack_number(header.epoch, to);
      to = pack_number(header.value, to);
      to = pack_number(to_number(header.ender), to);
      break;
    case Kind::kBundle:
    case Kind::kSum:
    case Kind::kLeave:
      break;
  }
  bytes.size = static_cast<std::size_t>(to - bytes.room.data());
  bytes.size = aligned(bytes.size, header.kind);
  return bytes;
}

std::optional<ReadHeader> read_header(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  ReadHeader read;
  MessageHeader& header = read.header;
  const auto start = std::to_integer<std::size_t>(reader.byte());
  header.kind = static_cast<Kind>(start & ((1U << kKindBits) - 1));
  const std::size_t words = start >> kKindBits;
  header.channel = std::to_integer<std::int32_t>(reader.byte());
  if (header.kind > Kind::kLeave || header.channel >= Transport::kChannelCount ||
      words > (is_flag(header.kind) ? header.words.size() : 0))
    return std::nullopt;
  header.opening = reader.number();
  switch (header.kind) {
    case Kind::kFlag:
    case Kind::kFlagAndNote:
      header.flag = std::to_integer<std::int32_t>(reader.byte());
      header.value = reader.number();
      header.offset = reader.number();
      for (std::size_t i = 0; i < words; ++i) header.words[i] = reader.word();
      break;
    case Kind::kData:
      header.epoch = reader.number();
      header.name.wave = reader.number();
      header.name.from = reader.small_number();
      header.name.to = reader.small_number();
      header.name.number = reader.small_number();
      break;
    case Kind::kDone:
    case Kind::kEnd:
      header.epoch = reader.number();
      header.value = reader.number();
      header.ender = reader.small_number();
      break;
    case Kind::kBundle:
    case Kind::kSum:
    case Kind::kLeave:
      break;
  }
  read.size = bytes.size() - reader.rest_size();
  reader.skip(aligned(read.size, header.kind) - read.size);
  read.size = aligned(read.size, header.kind);
  if (reader.has_failed()) return std::nullopt;
  return read;
}

}  // namespace fanin
