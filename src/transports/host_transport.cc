#include "transports/host_transport.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

#include "transports/epoch.h"

namespace fanin {
namespace {

/// Why a rank ended an epoch, at the end of its note: the last few, for those who ask late.
struct LastWords {
  std::uint64_t epoch_and_one = 0;  // 0: none yet
  std::uint32_t kind = 0;
  std::uint32_t length = 0;
  std::array<char, 496> sentence{};
};
static_assert(sizeof(LastWords) == 512);
constexpr std::size_t kLastWordsCount = 16;
static_assert(kLastWordsCount * sizeof(LastWords) <= Transport::kLastWordsBytes);

/// Tells others for whom this rank waits in an epoch. What it waited for in vain stays until it
/// waits again: others may ask at the same moment, before the epoch is over.
class WaitsFor {
 public:
  WaitsFor(std::atomic<std::uint32_t>& word, int rank, std::uint64_t epoch) : word_(word) {
    word_.store(
        static_cast<std::uint32_t>(epoch) << kRankBits | static_cast<std::uint32_t>(rank + 1),
        std::memory_order_relaxed);
  }
  WaitsFor(const WaitsFor&) = delete;
  WaitsFor& operator=(const WaitsFor&) = delete;

  void end() { word_.store(0, std::memory_order_relaxed); }

  /// The rank, or -1: nobody in this epoch.
  static int read(const std::atomic<std::uint32_t>& word, std::uint64_t epoch) {
    const std::uint32_t seen = word.load(std::memory_order_relaxed);
    const std::uint32_t rank_and_one = seen & ((1U << kRankBits) - 1);
    const bool is_now = seen >> kRankBits == (static_cast<std::uint32_t>(epoch) & kMask);
    return is_now ? static_cast<int>(rank_and_one) - 1 : -1;
  }

 private:
  static constexpr int kRankBits = 16;
  static constexpr std::uint32_t kMask = (1U << (32 - kRankBits)) - 1;
  static_assert(kMaxHostRanks < 1 << kRankBits);

  std::atomic<std::uint32_t>& word_;
};

std::uint64_t bit_of(int channel) { return std::uint64_t{1} << channel; }

}  // namespace

HostTransport::HostTransport(std::shared_ptr<HostMemory> memory, Place place, How how)
    : memory_(std::move(memory)),
      place_(std::move(place)),
      epoch_(control().epoch_and_ender),
      how_(std::move(how)),
      rank_(static_cast<int>(std::ranges::find(place_.members, place_.mine) -
                             place_.members.begin())),
      process_(::getpid()) {
  for (const int each : place_.members) flags_.push_back(&memory_->flags(each, channel()));
  memory_->process(place_.mine).used_channels.fetch_or(bit_of(channel()));
  // A group that was here before has left; this one has not.
  memory_->flags(place_.mine, channel()).left.store(0, std::memory_order_release);
}

HostTransport::~HostTransport() {
  // A fork of this process inherits the object but is not the rank.
  if (::getpid() != process_) return;
  RankFlags& mine = memory_->flags(place_.mine, channel());
  mine.left.store(1, std::memory_order_release);
  for (Flag& flag : mine.flags)
    if (flag.sleepers.load() != 0) wake_sleepers(flag);
  ProcessControl& process = memory_->process(place_.mine);
  for (std::uint64_t last = process.last_epoch; last < epoch();)
    if (process.last_epoch.compare_exchange_weak(last, epoch())) break;
  memory_->left_channels().add(place_.mine, channel(), place_.members);
  process.used_channels.fetch_and(~bit_of(channel()));
}

HostTransport::Place HostTransport::Place::of_all(int size, int rank) {
  Place place{.members = std::vector<int>(static_cast<std::size_t>(size)),
              .mine = rank,
              .channel = 0,
              .epoch_channel = 0};
  std::iota(place.members.begin(), place.members.end(), 0);
  return place;
}

HostTransport::Place HostTransport::place_of(int channel, int epoch_channel,
                                             std::span<const int> ranks) const {
  Place place{
      .members = {}, .mine = place_.mine, .channel = channel, .epoch_channel = epoch_channel};
  for (const int rank : ranks) place.members.push_back(member(rank));
  return place;
}

Flag& HostTransport::flag_of(int rank, int flag) const {
  assert(rank >= 0 && rank < size() && flag >= 0 && flag < kHostFlagCount);
  return flags_[static_cast<std::size_t>(rank)]->flags[static_cast<std::size_t>(flag)];
}

bool HostTransport::has_left(int rank) const {
  return memory_->flags(member(rank), channel()).left.load(std::memory_order_acquire) != 0;
}

std::span<std::byte> HostTransport::last_words(int rank, std::uint64_t epoch) const {
  return memory_->note(member(rank), place_.epoch_channel)
      .last(kLastWordsBytes)
      .subspan(epoch % kLastWordsCount * sizeof(LastWords), sizeof(LastWords));
}

void HostTransport::publish(int flag, std::uint64_t value) {
  Flag& mine = flag_of(rank_, flag);
  assert(value >= mine.value.load(std::memory_order_relaxed));
  publish_flag(mine, value, how_.order);
}

std::uint64_t HostTransport::peek(int rank, int flag) const {
  return flag_of(rank, flag).value.load(std::memory_order_acquire);
}

bool HostTransport::is_gone(int peer) { return has_left(peer) || notices_death(peer); }

/// Whether it has died; then it uses no channels any more.
bool HostTransport::notices_death(int rank) {
  if (!has_died(rank)) return false;
  memory_->process(member(rank)).used_channels.store(0);
  return true;
}

std::uint64_t HostTransport::used_channels() const {
  // Before those that were left: a channel that is left at this moment must be in one of both.
  const std::uint64_t used = memory_->process(place_.mine).used_channels.load();
  return used | memory_->left_channels().find_used(place_.mine, [&](int process) {
    return memory_->process(process).used_channels.load();
  });
}

std::vector<int> HostTransport::cores() const {
  if (how_.core_mates.empty()) return Transport::cores();
  const auto mate_of = [&](int rank) {
    return how_.core_mates[static_cast<std::size_t>(member(rank))];
  };
  std::vector<int> cores;
  for (int rank = 0; rank < size(); ++rank) {
    int first = 0;
    while (mate_of(first) != mate_of(rank)) ++first;
    cores.push_back(first);
  }
  return cores;
}

std::size_t HostTransport::registered_unit() const {
  static const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return memory_->registered().is_for_threads() ? 1 : page_bytes;
}

std::optional<std::uint64_t> HostTransport::renewal_count() const {
  const RegisteredMemory& registered = memory_->registered();
  if (!registered.can_renew()) return std::nullopt;
  return registered.renewal_count();
}

WriteAccess HostTransport::write_access(std::span<const std::uint64_t> renewal_counts,
                                        const Call& call) {
  std::optional<WriteAccess> access = memory_->registered().access(place_.members, renewal_counts);
  // Looked at while nobody can renew: who gives up ends the epoch first.
  require_epoch(*this, call);
  if (!access)
    throw PeerFailure(
        fmt::format("a rank tells where its memory is, and it is not there: {}", call.describe()));
  return std::move(*access);
}

std::uint64_t HostTransport::epoch() const {
  return epoch_.load(std::memory_order_acquire) >> ChannelControl::kRankBits;
}

void HostTransport::end_epoch(std::uint64_t epoch, const EpochEnd& end) {
  auto& word = control().epoch_and_ender;
  std::uint64_t seen = word.load(std::memory_order_acquire);
  if (seen >> ChannelControl::kRankBits != epoch) return;
  LastWords words{.epoch_and_one = epoch + 1,
                  .kind = static_cast<std::uint32_t>(end.kind),
                  .length = static_cast<std::uint32_t>(
                      std::min(end.sentence.size(), sizeof(LastWords::sentence)))};
  std::memcpy(words.sentence.data(), end.sentence.data(), words.length);
  std::memcpy(last_words(rank_, epoch).data(), &words, sizeof words);
  const std::uint64_t next =
      (epoch + 1) << ChannelControl::kRankBits | static_cast<std::uint64_t>(place_.mine);
  if (!word.compare_exchange_strong(seen, next, std::memory_order_acq_rel)) return;
  for (int rank = 0; rank < size(); ++rank) {
    // Those of the other channels of this group look once in a slice.
    for (Flag& flag : memory_->flags(member(rank), channel()).flags)
      if (flag.sleepers.load() != 0) wake_sleepers(flag);
  }
}

void HostTransport::begin_epoch(std::uint64_t epoch) {
  auto& word = control().epoch_and_ender;
  std::uint64_t seen = word.load(std::memory_order_acquire);
  while (seen >> ChannelControl::kRankBits < epoch &&
         !word.compare_exchange_weak(seen, epoch << ChannelControl::kRankBits))
    continue;
}

int HostTransport::find_decider(std::uint64_t generation) {
  auto& word = control().generation_and_decider;
  const std::uint64_t proposal =
      generation << ChannelControl::kRankBits | static_cast<std::uint64_t>(place_.mine);
  std::uint64_t seen = word.load(std::memory_order_acquire);
  while (seen >> ChannelControl::kRankBits < generation)
    if (word.compare_exchange_weak(seen, proposal, std::memory_order_acq_rel)) return rank_;
  return rank_of(seen);
}

/// The rank of the process that a control's word names, or size().
int HostTransport::rank_of(std::uint64_t word) const {
  const auto process = static_cast<int>(word & ((1U << ChannelControl::kRankBits) - 1));
  return static_cast<int>(std::ranges::find(place_.members, process) - place_.members.begin());
}

EpochEnd HostTransport::end_of(std::uint64_t epoch) const {
  const std::uint64_t seen = control().epoch_and_ender.load(std::memory_order_acquire);
  const auto heard = [&](int rank) -> std::optional<EpochEnd> {
    LastWords words;
    std::memcpy(&words, last_words(rank, epoch).data(), sizeof words);
    if (words.epoch_and_one != epoch + 1 || words.length > words.sentence.size())
      return std::nullopt;
    return EpochEnd{.rank = rank,
                    .kind = static_cast<ErrorKind>(words.kind),
                    .sentence = std::string(words.sentence.data(), words.length)};
  };
  // The one who ended it; later, any of those who gave up.
  const int ender = rank_of(seen);
  if (seen >> ChannelControl::kRankBits == epoch + 1 && ender < size())
    if (const auto end = heard(ender)) return *end;
  for (int rank = 0; rank < size(); ++rank)
    if (const auto end = heard(rank)) return *end;
  return {.rank = std::min(ender, size() - 1), .sentence = "it no longer knows why"};
}

std::uint64_t HostTransport::wait(int rank, int flag, std::uint64_t value, Call& call) {
  const Flag& theirs = flag_of(rank, flag);
  // Mostly it is there, and how to wait need not be known.
  if (const std::uint64_t seen = theirs.value.load(std::memory_order_acquire); seen >= value)
    return seen;
  if (spin_until(theirs, value,
                 call.in_background ? tuning_in_background(how_.tuning) : how_.tuning)) [[likely]]
    return theirs.value.load(std::memory_order_acquire);
  return wait_asleep(rank, flag, value, call);
}

/// Whom a rank that is late waits for itself, and so on: the last of them is to blame.
std::string HostTransport::describe_chain(int rank, std::uint64_t epoch) const {
  std::string chain;
  for (int hop = 0; hop < size(); ++hop) {
    const int next = WaitsFor::read(memory_->flags(member(rank), channel()).waits_for, epoch);
    if (next < 0 || next >= size() || next == rank_) break;
    chain += fmt::format("; rank {} waits for {}", rank, describe(next));
    rank = next;
  }
  return chain;
}

/// A rank that has died, where the one that is waited for lives. It may be waited for in vain: by
/// one that knows of the death already. One that has only gone home is no reason to give up.
std::optional<int> HostTransport::find_dead_other(int rank) {
  for (int other = 0; other < size(); ++other)
    if (other != rank && other != rank_ && !has_left(other) && notices_death(other)) return other;
  return std::nullopt;
}

/// A rank that has left and so will not enter the operation, which nobody can end then. The one
/// that is waited for may know it, and have gone on.
std::optional<int> HostTransport::find_absent_other(int rank, int flag, std::uint64_t value) {
  if (flag != kCallFlags && flag != kCallFlags + 1) return std::nullopt;
  for (int other = 0; other < size(); ++other)
    if (other != rank && other != rank_ && has_left(other) && peek(other, flag) < value)
      return other;
  return std::nullopt;
}

std::uint64_t HostTransport::wait_asleep(int rank, int flag, std::uint64_t value, Call& call) {
  Flag& theirs = flag_of(rank, flag);
  WaitsFor waits_for(memory_->flags(place_.mine, channel()).waits_for, rank, call.epoch);
  const Deadline deadline = call.until();
  const Deadline start = Clock::now();
  Deadline last_check = start;
  for (Deadline now = start;; now = Clock::now()) {
    const bool is_over = epoch() != call.epoch;
    const bool has_gone = has_left(rank);
    const bool is_late = now >= deadline;
    bool is_dead = false;
    std::optional<int> dead_other;
    std::optional<int> absent_other;
    if (is_late || now - last_check >= how_.tuning.slice) {
      is_dead = notices_death(rank);
      if (now - start >= 2 * how_.tuning.slice) {
        dead_other = find_dead_other(rank);
        absent_other = find_absent_other(rank, flag, value);
      }
      last_check = now;
    }
    // Looked at after its end: what a rank has published before that counts.
    if (const std::uint64_t seen = peek(rank, flag); seen >= value) {
      waits_for.end();
      return seen;
    }
    if (is_over) throw_epoch_end(end_of(call.epoch), call);
    if (has_gone)
      throw PeerFailure(fmt::format("rank {} waited for {}, which has left the group: {}", rank_,
                                    describe(rank), call.describe()));
    if (is_dead)
      throw PeerFailure(fmt::format("rank {} waited for {}, which has died: {}", rank_,
                                    describe(rank), call.describe()));
    if (dead_other)
      throw PeerFailure(fmt::format("rank {} waited for {}, and {} has died: {}", rank_,
                                    describe(rank), describe(*dead_other), call.describe()));
    if (absent_other)
      throw PeerFailure(fmt::format("rank {} waited for {}, and {} has left the group: {}", rank_,
                                    describe(rank), describe(*absent_other), call.describe()));
    if (is_late)
      throw DeadlineExceeded(fmt::format(
          "rank {} waited {:.3g} s for {}, until the deadline: {}; {}{}", rank_,
          std::chrono::duration<double>(now - start).count(), describe(rank), call.describe(),
          describe_last_sign(*this, rank), describe_chain(rank, call.epoch)));
    const auto limit = std::min<Clock::duration>(how_.tuning.slice, deadline - now);
    sleep_until(theirs, value, limit, how_.order);
  }
}

}  // namespace fanin
