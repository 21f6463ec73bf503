#include "transports/message_header.h"

#include <cassert>
#include <cstring>

namespace fanin {
namespace {

using Kind = MessageHeader::Kind;

/// What every message begins with.
struct StartPart {
  Kind kind;
  std::uint8_t flag;
  std::uint8_t word_count;
  std::uint8_t channel;
  std::uint32_t number;  // of kData: on its link; of kEnd: the ender
  std::uint64_t opening;
  std::uint64_t value;  // of kData: the wave
};

struct FlagPart {
  std::uint64_t offset;
};

struct DataPart {
  std::uint64_t epoch;
  std::int32_t from;
  std::int32_t to;
};

struct EpochPart {
  std::uint64_t epoch;
};

bool is_flag(Kind kind) { return kind == Kind::kFlag || kind == Kind::kFlagAndNote; }

std::size_t word_count(const MessageHeader& header) {
  if (!is_flag(header.kind)) return 0;
  std::size_t count = header.words.size();
  while (count > 0 && header.words[count - 1] == 0) --count;
  return count;
}

/// Of all after the start.
std::size_t rest_size(Kind kind, std::size_t words) {
  switch (kind) {
    case Kind::kFlag:
    case Kind::kFlagAndNote:
      return sizeof(FlagPart) + words * sizeof(std::uint64_t);
    case Kind::kData:
      return sizeof(DataPart);
    case Kind::kDone:
    case Kind::kEnd:
      return sizeof(EpochPart);
    case Kind::kBundle:
    case Kind::kLeave:
      break;
  }
  return 0;
}

template <class Part>
std::span<std::byte> put(const Part& part, std::span<std::byte> to) {
  std::memcpy(to.data(), &part, sizeof part);
  return to.subspan(sizeof part);
}

template <class Part>
Part take(std::span<const std::byte>& from) {
  Part part;
  std::memcpy(&part, from.data(), sizeof part);
  from = from.subspan(sizeof part);
  return part;
}

}  // namespace

std::size_t size_of(const MessageHeader& header) {
  return sizeof(StartPart) + rest_size(header.kind, word_count(header));
}

void write(const MessageHeader& header, std::span<std::byte> bytes) {
  assert(bytes.size() >= size_of(header));
  const bool is_data = header.kind == Kind::kData;
  const std::size_t words = word_count(header);
  bytes = put(
      StartPart{.kind = header.kind,
                .flag = static_cast<std::uint8_t>(header.flag),
                .word_count = static_cast<std::uint8_t>(words),
                .channel = static_cast<std::uint8_t>(header.channel),
                .number = static_cast<std::uint32_t>(is_data ? header.name.number : header.ender),
                .opening = header.opening,
                .value = is_data ? header.name.wave : header.value},
      bytes);
  if (is_flag(header.kind)) {
    bytes = put(FlagPart{header.offset}, bytes);
    if (words > 0) std::memcpy(bytes.data(), header.words.data(), words * sizeof header.words[0]);
  } else if (is_data) {
    put(DataPart{header.epoch, header.name.from, header.name.to}, bytes);
  } else if (rest_size(header.kind, 0) > 0) {
    put(EpochPart{header.epoch}, bytes);
  }
}

std::optional<ReadHeader> read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(StartPart)) return std::nullopt;
  const std::size_t all = bytes.size();
  const auto start = take<StartPart>(bytes);
  ReadHeader read;
  MessageHeader& header = read.header;
  if (start.kind > Kind::kLeave || start.channel >= Transport::kChannelCount ||
      start.word_count > header.words.size() ||
      bytes.size() < rest_size(start.kind, start.word_count))
    return std::nullopt;
  header.kind = start.kind;
  header.flag = start.flag;
  header.channel = start.channel;
  header.opening = start.opening;
  if (start.kind == Kind::kData) {
    const auto data = take<DataPart>(bytes);
    header.epoch = data.epoch;
    header.name = {.wave = start.value,
                   .from = data.from,
                   .to = data.to,
                   .number = static_cast<std::int32_t>(start.number)};
  } else {
    header.value = start.value;
    header.ender = static_cast<std::int32_t>(start.number);
  }
  if (is_flag(start.kind)) {
    header.offset = take<FlagPart>(bytes).offset;
    for (std::size_t i = 0; i < start.word_count; ++i) header.words[i] = take<std::uint64_t>(bytes);
  } else if (start.kind != Kind::kData && rest_size(start.kind, 0) > 0) {
    header.epoch = take<EpochPart>(bytes).epoch;
  }
  read.size = all - bytes.size();
  return read;
}

}  // namespace fanin
