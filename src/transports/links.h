#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fanin/buffer.h"
#include "transports/transport.h"

namespace fanin {

/// Which message of an epoch this is. A rank may do the work of several places of a schedule.
struct MessageName {
  std::uint64_t wave = 0;  // over all plans of the epoch
  std::int32_t from = 0;   // places
  std::int32_t to = 0;
  std::int32_t number = 0;  // on the link between these

  friend bool operator==(const MessageName&, const MessageName&) = default;
};

/// Messages between ranks that see nothing of each other, one object for each transport. Called by
/// one thread at a time.
class Links {
 public:
  virtual ~Links() = default;

  /// Whether another message for this rank may be sent now: not so if many are under way.
  virtual bool can_send(int peer) = 0;

  /// What this rank has published reaches all without the help of others: for a rank that does not
  /// wait for them.
  virtual void tell_directly() {}

  /// A message in the making: the bytes are to be filled.
  struct Draft {
    Buffer block;
    std::span<std::byte> bytes;
  };
  virtual Draft begin(const MessageName& name, std::size_t bytes, const Call& call) = 0;
  virtual void send(int peer, Draft draft) = 0;

  /// Whether all that was sent to this rank is out of this rank's hands. Until then, it goes on
  /// only while functions of this object are called.
  virtual bool has_sent_all(int peer) = 0;

  /// A message that has come; the bytes are part of the block.
  struct Delivery {
    Buffer block;
    std::span<const std::byte> bytes;
  };
  virtual std::optional<Delivery> take(int peer, const MessageName& name, const Call& call) = 0;

  /// Tells a rank that this one is done with all waves before `wave`.
  virtual void tell_done(int peer, std::uint64_t wave, const Call& call) = 0;

  /// What a rank has last told so, in the call's epoch; 0 if nothing.
  virtual std::uint64_t done(int peer, const Call& call) = 0;

  /// Returns when something may have come, or been sent. Throws as Transport::wait() does for
  /// `peer`.
  virtual void wait(int peer, Call& call) = 0;
};

}  // namespace fanin
