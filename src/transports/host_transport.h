#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transports/host_memory.h"
#include "transports/transport.h"

namespace fanin {

/// What the transports of one host have in common: everything but how one learns of a death. Ranks
/// of the transport are some of the processes that share the memory.
class HostTransport : public Transport {
 public:
  ~HostTransport() override;
  HostTransport(const HostTransport&) = delete;
  HostTransport& operator=(const HostTransport&) = delete;

  int rank() const final { return rank_; }
  int size() const final { return static_cast<int>(place_.members.size()); }
  std::span<std::byte> window(int rank) final { return memory_->window(member(rank), channel()); }
  std::span<std::byte> note(int rank) final { return memory_->note(member(rank), channel()); }
  std::span<std::byte> shelf(int rank) final { return memory_->shelf(member(rank), channel()); }
  std::span<std::byte> registered(int rank) final { return memory_->registered().of(member(rank)); }
  std::size_t registered_unit() const final;
  std::optional<std::uint64_t> renewal_count() const final;
  WriteAccess write_access(std::span<const std::uint64_t> renewal_counts, const Call& call) final;
  void renew(std::span<const std::span<std::byte>> pieces) final {
    memory_->registered().renew(pieces);
  }
  bool shares_cores() const final { return how_.tuning.yields > 0; }
  std::vector<int> cores() const final;
  int flag_count() const final { return kHostFlagCount; }
  Message& message(int rank, int flag) final { return flag_of(rank, flag).message; }
  void publish(int flag, std::uint64_t value) final;
  std::uint64_t peek(int rank, int flag) const final;
  std::uint64_t wait(int rank, int flag, std::uint64_t value, Call& call) final;
  std::uint64_t epoch() const final;
  void end_epoch(std::uint64_t epoch, const EpochEnd& end) final;
  void begin_epoch(std::uint64_t epoch) final;
  EpochEnd end_of(std::uint64_t epoch) const final;
  int find_decider(std::uint64_t generation) final;
  std::shared_ptr<void> memory_handle() final { return memory_; }
  bool is_gone(int peer) final;
  std::uint64_t used_channels() const final;
  std::uint64_t last_epoch() const final { return memory_->process(place_.mine).last_epoch.load(); }

  /// Which of the processes these ranks are, and what part of the memory they use.
  struct Place {
    std::vector<int> members;  // by rank
    int mine = 0;              // among the processes
    int channel = 0;
    int epoch_channel = 0;

    /// All processes, on the first channel.
    static Place of_all(int size, int rank);
  };
  struct How {
    WakeOrder order;
    WaitTuning tuning;
    std::vector<int> core_mates = {};  // by process: the lowest that stays on the same core
  };

 protected:
  HostTransport(std::shared_ptr<HostMemory> memory, Place place, How how);

  const std::shared_ptr<HostMemory>& memory() const { return memory_; }
  const How& how() const { return how_; }
  int member(int rank) const { return place_.members[static_cast<std::size_t>(rank)]; }

  /// The place of `ranks` of this transport on another channel.
  Place place_of(int channel, int epoch_channel, std::span<const int> ranks) const;

  /// Whether the rank cannot publish any more, without having left. Asked once in a slice.
  virtual bool has_died(int peer) = 0;

 private:
  std::uint64_t wait_asleep(int rank, int flag, std::uint64_t value, Call& call);
  std::optional<int> find_dead_other(int rank);
  std::optional<int> find_absent_other(int rank, int flag, std::uint64_t value);
  std::string describe_chain(int rank, std::uint64_t epoch) const;
  bool notices_death(int rank);
  ChannelControl& control() const {
    return memory_->control(place_.epoch_channel, place_.members.front());
  }
  Flag& flag_of(int rank, int flag) const;
  bool has_left(int rank) const;
  int channel() const { return place_.channel; }
  std::span<std::byte> last_words(int rank, std::uint64_t epoch) const;
  int rank_of(std::uint64_t word) const;

  std::shared_ptr<HostMemory> memory_;
  Place place_;
  std::vector<RankFlags*> flags_;  // by rank
  std::atomic<std::uint64_t>& epoch_;
  How how_;
  int rank_;
  pid_t process_;
};

}  // namespace fanin
