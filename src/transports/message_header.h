#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transports/links.h"
#include "transports/packed_number.h"
#include "transports/transport.h"

namespace fanin {

/// Before every message between processes. In a message it takes only what its kind needs: of short
/// sums, headers are most of what crosses a wire.
struct MessageHeader {
  enum class Kind : std::uint8_t {
    kFlag,         // a flag with its words; what follows is of the window
    kFlagAndNote,  // likewise, of the note
    kBundle,       // what the ranks of one host have said: for each its rank, and its message
    kSum,          // the same, but of what they have attached there is only the sum
    kData,         // a message of a plan
    kDone,         // the sender is done with all waves before one
    kEnd,          // the epoch has ended; what follows is the sentence
    kLeave,        // the sender leaves the channel
  };
  Kind kind = Kind::kFlag;
  std::int32_t channel = 0;
  std::uint64_t opening = 0;                                       // of the channel
  std::uint64_t epoch = 0;                                         // of kData, kDone, kEnd
  std::uint64_t value = 0;                                         // of a flag, or waves; of kEnd
  std::int32_t flag = 0;                                           // of flags
  std::int32_t ender = 0;                                          // of kEnd: a rank of the engine
  std::uint64_t offset = 0;                                        // of flags: where the bytes go
  MessageName name = {};                                           // of kData
  std::array<std::uint64_t, Transport::kMessageWords> words = {};  // of flags

  friend bool operator==(const MessageHeader&, const MessageHeader&) = default;
};

/// As it is in a message. Words are there up to the last that is not 0.
struct HeaderBytes {
  // A flag's: the start, a byte, three numbers, the words, and what aligns its content.
  std::array<std::byte, 3 + 3 * kMostNumberBytes + 8 * Transport::kMessageWords + 7> room = {};
  std::size_t size = 0;

  std::span<const std::byte> bytes() const { return std::span(room).first(size); }
};
HeaderBytes to_bytes(const MessageHeader& header);

struct ReadHeader {
  MessageHeader header;
  std::size_t size = 0;  // of it, in the message
};

/// What to_bytes() has made; nothing if the bytes are no message, or end too early.
std::optional<ReadHeader> read_header(std::span<const std::byte> bytes);

}  // namespace fanin
