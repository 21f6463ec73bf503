#include "transports/host_links.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include "transports/test_ranks.h"

namespace fanin {
namespace {

using test::expect;
using test::Kind;
using test::outcomes;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr std::size_t kMostBytes = 60'000;

/// The bytes of a message: a piece, for each message another, of one row that is made once.
std::span<const std::byte> content_of(int from, int to, int number, std::size_t size) {
  static const std::vector<std::byte> row = [] {
    std::minstd_rand random(1);
    std::vector<std::byte> bytes(kMostBytes + 2'000);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random() >> 8U);
    return bytes;
  }();
  return std::span(row).subspan(static_cast<std::size_t>((from * 6 + to) * 50 + number), size);
}

Call call_of(Transport& mine, std::chrono::duration<double> timeout = 30s) {
  return {.epoch = mine.epoch(), .timeout = timeout, .describe = [] { return "test"; }};
}

/// Every rank sends many messages of all sizes to every other, most of them longer than the ring,
/// and takes those of others in another order.
void exchange(Transport& mine, Links& links, int count) {
  Call call = call_of(mine);
  const auto size_of = [](int from, int to, int number) {
    std::minstd_rand random(static_cast<unsigned>(from * 1009 + to * 9176 + number + 1));
    return random() % (number % 3 == 0 ? 20 : kMostBytes);
  };
  const auto name_of = [](int from, int to, int number) {
    return MessageName{
        .wave = static_cast<std::uint64_t>(number), .from = from, .to = to, .number = 0};
  };
  std::vector<int> sent(static_cast<std::size_t>(mine.size()));
  std::vector<std::vector<bool>> taken(sent.size(),
                                       std::vector<bool>(static_cast<std::size_t>(count)));
  int missing = (mine.size() - 1) * count * 2;
  while (missing > 0) {
    const int before = missing;
    int waits_for = 0;
    for (int peer = 0; peer < mine.size(); ++peer) {
      if (peer == mine.rank()) continue;
      waits_for = peer;
      int& number = sent[static_cast<std::size_t>(peer)];
      if (number < count && links.can_send(peer)) {
        Links::Draft draft = links.begin(name_of(mine.rank(), peer, number),
                                         size_of(mine.rank(), peer, number), call);
        std::ranges::copy(content_of(mine.rank(), peer, number, draft.bytes.size()),
                          draft.bytes.begin());
        links.send(peer, std::move(draft));
        ++number;
        --missing;
      }
      for (int other = count - 1; other >= 0; --other) {
        if (taken[static_cast<std::size_t>(peer)][static_cast<std::size_t>(other)]) continue;
        const auto delivery = links.take(peer, name_of(peer, mine.rank(), other), call);
        if (!delivery) continue;
        const std::size_t size = size_of(peer, mine.rank(), other);
        expect(delivery->bytes.size() == size, "size");
        const auto content = content_of(peer, mine.rank(), other, size);
        expect(std::memcmp(delivery->bytes.data(), content.data(), size) == 0, "bytes");
        taken[static_cast<std::size_t>(peer)][static_cast<std::size_t>(other)] = true;
        --missing;
      }
    }
    if (missing == before) links.wait(waits_for, call);
  }
  // Until all have all, nobody leaves.
  for (int peer = 0; peer < mine.size(); ++peer)
    if (peer != mine.rank()) links.tell_done(peer, 1, call);
  for (int peer = 0; peer < mine.size(); ++peer)
    while (peer != mine.rank() && links.done(peer, call) < 1) links.wait(peer, call);
}

TEST(HostLinks, CarryMessagesOfAnySizeBetweenAll) {
  for (const Kind kind : {Kind::kThreads, Kind::kProcesses})
    for (const int size : {1, 2, 3, 5})
      EXPECT_THAT(outcomes({kind, size, 65536},
                           [](Transport& mine) {
                             const auto links = make_host_links(mine);
                             exchange(mine, *links, 40);
                             test::meet(mine, 1, Clock::now() + 30s);
                           }),
                  Each(IsEmpty()));
}

TEST(HostLinks, AnEpochForgetsWhatWasUnderWay) {
  EXPECT_THAT(outcomes({Kind::kThreads, 2, 65536},
                       [](Transport& mine) {
                         const auto links = make_host_links(mine);
                         Call call = call_of(mine);
                         for (int i = 0; i < 5; ++i)
                           links->send(1 - mine.rank(),
                                       links->begin({.wave = 0, .number = i}, 50'000, call));
                         test::meet(mine, 1, Clock::now() + 30s);
                         mine.end_epoch(0, {.rank = mine.rank(), .sentence = "test"});
                         test::meet(mine, 2, Clock::now() + 30s);
                         exchange(mine, *links, 10);
                         test::meet(mine, 3, Clock::now() + 30s);
                       }),
              Each(IsEmpty()));
}

TEST(HostLinks, ADeadlineNamesThePeer) {
  const auto results = outcomes({Kind::kThreads, 2, 65536}, [](Transport& mine) {
    const auto links = make_host_links(mine);
    if (mine.rank() == 0) {
      Call call = call_of(mine, 50ms);
      while (!links->take(1, {}, call)) links->wait(1, call);
    } else {
      std::this_thread::sleep_for(200ms);
    }
  });
  EXPECT_THAT(results[0], HasSubstr("for rank 1"));
  EXPECT_THAT(results[0], HasSubstr("until the deadline: test"));
}

}  // namespace
}  // namespace fanin
