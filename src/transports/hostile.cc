#include "transports/hostile.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

namespace fanin {
namespace {

constexpr std::array<std::string_view, 6> kMischiefNames = {"die",  "stop", "delay",
                                                            "drop", "flip", "truncate"};

class Hostile final : public Transport {
 public:
  Hostile(std::unique_ptr<Transport> inner, const HostilePlan& plan)
      : inner_(std::move(inner)), plan_(plan) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::string_view name() const override { return inner_->name(); }
  Sight sight(int peer) const override { return inner_->sight(peer); }
  bool shares_cores() const override { return inner_->shares_cores(); }
  std::string describe(int peer) const override { return inner_->describe(peer); }
  std::span<std::byte> window(int rank) override { return inner_->window(rank); }
  std::span<std::byte> note(int rank) override { return inner_->note(rank); }
  std::span<std::byte> shelf(int rank) override {
    if (++step_ == plan_.step) strike(-1);
    return inner_->shelf(rank);
  }
  std::span<std::byte> registered(int rank) override { return inner_->registered(rank); }
  std::size_t registered_unit() const override { return inner_->registered_unit(); }
  std::optional<std::uint64_t> renewal_count() const override { return inner_->renewal_count(); }
  WriteAccess write_access(std::span<const std::uint64_t> renewal_counts,
                           const Call& call) override {
    WriteAccess access = inner_->write_access(renewal_counts, call);
    if (++step_ == plan_.step) strike(-1);
    return access;
  }
  void renew(std::span<const std::span<std::byte>> pieces) override { inner_->renew(pieces); }
  bool can_fetch() override { return inner_->can_fetch(); }
  void fetch(int peer, std::span<const Fetched> pieces, const Call& call) override {
    if (++step_ == plan_.step) strike(-1);
    inner_->fetch(peer, pieces, call);
  }
  std::shared_ptr<void> memory_handle() override { return inner_->memory_handle(); }
  int flag_count() const override { return inner_->flag_count(); }
  Message& message(int rank, int flag) override { return inner_->message(rank, flag); }
  std::uint64_t peek(int rank, int flag) const override { return inner_->peek(rank, flag); }
  std::uint64_t epoch() const override { return inner_->epoch(); }
  void begin_epoch(std::uint64_t epoch) override { inner_->begin_epoch(epoch); }
  EpochEnd end_of(std::uint64_t epoch) const override { return inner_->end_of(epoch); }
  bool is_gone(int peer) override { return inner_->is_gone(peer); }
  std::uint64_t used_channels() const override { return inner_->used_channels(); }
  std::uint64_t last_epoch() const override { return inner_->last_epoch(); }
  int find_decider(std::uint64_t generation) override { return inner_->find_decider(generation); }
  void end_epoch(std::uint64_t epoch, const EpochEnd& end) override {
    inner_->end_epoch(epoch, end);
  }
  std::unique_ptr<Transport> open(int channel, int epoch_channel, std::span<const int> ranks,
                                  std::uint64_t opening) override {
    return inner_->open(channel, epoch_channel, ranks, opening);
  }

  void publish(int flag, std::uint64_t value) override {
    if (++step_ == plan_.step) {
      if (plan_.mischief == Mischief::kDrop) return;
      strike(flag);
    }
    inner_->publish(flag, value);
  }

  std::uint64_t wait(int rank, int flag, std::uint64_t value, Call& call) override {
    if (++step_ == plan_.step) strike(-1);
    return inner_->wait(rank, flag, value, call);
  }

 private:
  void strike(int flag) {
    switch (plan_.mischief) {
      case Mischief::kDie:
        ::raise(SIGKILL);
        return;
      case Mischief::kStop:
        ::raise(SIGSTOP);
        return;
      case Mischief::kDelay:
        std::this_thread::sleep_for(plan_.delay);
        return;
      case Mischief::kFlip:
        if (flag == kCallFlags || flag == kCallFlags + 1)
          message(rank(), flag)[0].fetch_xor(std::uint64_t{1} << plan_.seed % 64);
        return;
      case Mischief::kTruncate: {
        const std::span<std::byte> mine = note(rank());
        std::memset(mine.data() + plan_.seed % mine.size() / 2, 0, mine.size() / 4);
        return;
      }
      case Mischief::kDrop:
        return;
    }
  }

  std::unique_ptr<Transport> inner_;
  HostilePlan plan_;
  std::uint64_t step_ = 0;
};

}  // namespace

std::string_view name(Mischief mischief) {
  return kMischiefNames[static_cast<std::size_t>(mischief)];
}

std::unique_ptr<Transport> make_hostile(std::unique_ptr<Transport> transport,
                                        const HostilePlan& plan) {
  return std::make_unique<Hostile>(std::move(transport), plan);
}

}  // namespace fanin
