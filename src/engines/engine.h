#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fanin/buffer.h"

namespace fanin {

/// Messages between processes of any hosts, carried by software that is not ours: MPI. One object
/// per process; its functions are called by one thread at a time, and block only where they say so.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// "Open MPI 4.1.4", for people.
  virtual std::string describe() const = 0;

  /// For each rank the lowest rank that is on the same host.
  virtual const std::vector<int>& hosts() const = 0;

  /// Whether threads may take turns to call this.
  virtual bool serves_threads() const = 0;

  /// Returns when all ranks have called it; throws DeadlineExceeded if they have not after
  /// `timeout`. Throws Unavailable if the engine fails, as the functions below do.
  virtual void meet(std::chrono::duration<double> timeout) = 0;

  /// Begins to send the block, and keeps it until it is on its way. Throws Unavailable if the
  /// engine fails, as advance() does.
  virtual void send(int peer, Buffer block) = 0;

  /// Whether another block for this rank may be sent now: not so if many are kept.
  virtual bool can_send(int peer) = 0;

  /// Whether all that was sent to this rank is on its way, as far as advance() knows.
  virtual bool has_sent_all(int peer) = 0;

  /// Blocks for one rank that are kept, where can_send() says no.
  static constexpr std::size_t kMostUnsent = 8;

  struct Arrival {
    int from = 0;
    Buffer block;
  };

  /// Moves everything on that is under way, and gives the next message that is here whole, if any;
  /// those of one rank in the order in which it sent them.
  virtual std::optional<Arrival> advance() = 0;

  /// Whether messages between ranks of one host need nobody else's software, and advance_near()
  /// gives those alone, without asking it.
  virtual bool has_near() const { return false; }
  virtual std::optional<Arrival> advance_near() { return std::nullopt; }
};

}  // namespace fanin
