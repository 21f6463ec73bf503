#include "distribute/shrink.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "core/require.h"

namespace fanin {
namespace {

// Shrinking is rare, and those who wait may have to wait for a death to be noticed.
constexpr std::chrono::milliseconds kPause(1);

/// What the decider writes into its note.
struct Decision {
  std::uint64_t generation = 0;
  std::uint64_t first_epoch = 0;
  std::int32_t channel = 0;
  std::int32_t rank_count = 0;
};

/// Each generation has two meetings: the first before who survives is known, the second after.
std::uint64_t value_of(std::uint64_t generation, int meeting) {
  return 2 * generation + static_cast<std::uint64_t>(meeting) - 1;
}

/// Calls `is_here(rank)` of each until it has come, is gone, or the time is over.
template <typename IsHere>
void wait_for_all(Transport& transport, std::span<const int> ranks,
                  std::chrono::duration<double> timeout, IsHere&& is_here) {
  const Deadline deadline = deadline_after(timeout);
  for (const int rank : ranks)
    while (!is_here(rank) && !transport.is_gone(rank)) {
      if (Clock::now() >= deadline)
        throw DeadlineExceeded(fmt::format(
            "rank {} shrinks the group and waited {:.3g} s for {}, which lives but does "
            "not shrink it",
            transport.rank(), timeout.count(), transport.describe(rank)));
      std::this_thread::sleep_for(kPause);
    }
}

std::string list_gone(Transport& transport) {
  std::string names;
  for (int rank = 0; rank < transport.size(); ++rank)
    if (transport.is_gone(rank)) names += fmt::format("{}rank {}", names.empty() ? "" : ", ", rank);
  return names.empty() ? "anybody having died" : names;
}

Survivors propose(Transport& transport, std::uint64_t generation) {
  Survivors survivors;
  std::uint64_t used = 0;
  for (int rank = 0; rank < transport.size(); ++rank) {
    if (transport.peek(rank, Transport::kShrinkFlag) < value_of(generation, 1)) continue;
    if (transport.is_gone(rank)) continue;
    survivors.ranks.push_back(rank);
    const Transport::Message& told = transport.message(rank, Transport::kShrinkFlag);
    used |= told[0].load(std::memory_order_relaxed);
    survivors.first_epoch =
        std::max(survivors.first_epoch, told[1].load(std::memory_order_relaxed) + 1);
  }
  survivors.channel = find_free_channel(used);
  return survivors;
}

void write(Transport& transport, std::uint64_t generation, const Survivors& survivors) {
  const Decision decision{.generation = generation,
                          .first_epoch = survivors.first_epoch,
                          .channel = survivors.channel,
                          .rank_count = static_cast<std::int32_t>(survivors.ranks.size())};
  std::byte* const note = transport.note(transport.rank()).data();
  std::memcpy(note, &decision, sizeof decision);
  std::memcpy(note + sizeof decision, survivors.ranks.data(), survivors.ranks.size() * sizeof(int));
}

Survivors read(Transport& transport, int decider) {
  Decision decision;
  const std::byte* const note = transport.note(decider).data();
  std::memcpy(&decision, note, sizeof decision);
  Survivors survivors{.ranks = std::vector<int>(static_cast<std::size_t>(
                          std::clamp(decision.rank_count, 0, transport.size()))),
                      .channel = decision.channel,
                      .first_epoch = decision.first_epoch};
  std::memcpy(survivors.ranks.data(), note + sizeof decision, survivors.ranks.size() * sizeof(int));
  return survivors;
}

}  // namespace

int find_free_channel(std::uint64_t used) {
  constexpr std::uint64_t kAll = (1U << kChannelsOfGroup) - 1;
  for (int channel = 0; channel + kChannelsOfGroup <= Transport::kChannelCount;
       channel += kChannelsOfGroup)
    if ((used >> channel & kAll) == 0) return channel;
  throw Unavailable(fmt::format("a process can be in {} groups at once; let go of one",
                                Transport::kChannelCount / kChannelsOfGroup));
}

void check_ranks(std::span<const int> ranks, int size) {
  require(!ranks.empty(), ErrorKind::kEmpty, "a group needs at least one rank");
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    require(ranks[i] >= 0 && ranks[i] < size, ErrorKind::kBadOption,
            "rank {} does not exist in a group of {}; ranks count from 0", ranks[i], size);
    require(std::ranges::count(ranks, ranks[i]) == 1, ErrorKind::kBadOption,
            "rank {} stands twice in the list of a group", ranks[i]);
  }
}

Survivors find_survivors(Transport& transport, std::uint64_t generation,
                         std::chrono::duration<double> timeout) {
  if (!transport.can_shrink())
    throw Unavailable(
        "a group whose messages MPI carries cannot shrink: when one of its ranks dies, mpirun ends "
        "the job; start it again with fewer ranks");
  // Calls that are still waiting for the dead end here; the first who comes sees to that.
  bool is_first = true;
  for (int rank = 0; rank < transport.size(); ++rank)
    is_first &= transport.peek(rank, Transport::kShrinkFlag) < value_of(generation, 1);
  if (is_first)
    transport.end_epoch(transport.epoch(),
                        {transport.rank(), ErrorKind::kPeerDied,
                         fmt::format("it shrinks the group without {}", list_gone(transport))});
  Transport::Message& mine = transport.message(transport.rank(), Transport::kShrinkFlag);
  mine[0].store(transport.used_channels(), std::memory_order_relaxed);
  mine[1].store(transport.last_epoch(), std::memory_order_relaxed);
  transport.publish(Transport::kShrinkFlag, value_of(generation, 1));
  std::vector<int> all(static_cast<std::size_t>(transport.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  wait_for_all(transport, all, timeout, [&](int rank) {
    return transport.peek(rank, Transport::kShrinkFlag) >= value_of(generation, 1);
  });
  // Two who look at different times may see different ones alive: only one of them decides.
  write(transport, generation, propose(transport, generation));
  Survivors survivors = read(transport, transport.find_decider(generation));
  if (std::ranges::find(survivors.ranks, transport.rank()) == survivors.ranks.end())
    throw PeerFailure("the others took this rank for dead and have gone on without it");
  return survivors;
}

void meet_survivors(Transport& transport, std::uint64_t generation, const Survivors& survivors,
                    std::chrono::duration<double> timeout) {
  transport.publish(Transport::kShrinkFlag, value_of(generation, 2));
  wait_for_all(transport, survivors.ranks, timeout, [&](int rank) {
    return transport.peek(rank, Transport::kShrinkFlag) >= value_of(generation, 2);
  });
}

}  // namespace fanin
