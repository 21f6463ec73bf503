#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "transports/host_memory.h"
#include "transports/transport.h"

namespace fanin {

/// What the transports of one host have in common: everything but how one learns of a death.
class HostTransport : public Transport {
 public:
  ~HostTransport() override;
  HostTransport(const HostTransport&) = delete;
  HostTransport& operator=(const HostTransport&) = delete;

  int rank() const final { return rank_; }
  int size() const final { return memory_->size(); }
  std::span<std::byte> window(int rank) final { return memory_->window(rank); }
  std::span<std::byte> call_line(int rank) final { return memory_->call_line(rank); }
  int flag_count() const final { return kHostFlagCount; }
  void publish(int flag, std::uint64_t value) final;
  std::uint64_t peek(int rank, int flag) const final;
  void wait(int rank, int flag, std::uint64_t value, Deadline deadline,
            std::string_view what) final;

 protected:
  HostTransport(std::shared_ptr<HostMemory> memory, int rank, WakeOrder order, WaitTuning tuning);

  HostMemory& memory() const { return *memory_; }

  /// Whether the rank cannot publish any more, without having left. Asked once in a slice.
  virtual bool has_died(int peer) = 0;

  /// Names the rank in messages, with what is known about it.
  virtual std::string describe(int peer) const = 0;

 private:
  void wait_asleep(int rank, int flag, std::uint64_t value, Deadline deadline,
                   std::string_view what);
  Flag& flag_of(int rank, int flag) const;

  std::shared_ptr<HostMemory> memory_;
  int rank_;
  WakeOrder order_;
  WaitTuning tuning_;
  pid_t process_;
};

}  // namespace fanin
