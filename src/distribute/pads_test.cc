#include "distribute/pads.h"

#include <gmock/gmock.h>

#include "transports/test_ranks.h"

namespace fanin {
namespace {

using test::expect;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> with_pads(int lane,
                                   const std::function<void(Transport&, Pad&, Pads&)>& body) {
  return test::outcomes({.kind = test::Kind::kProcesses, .size = 2},
                        test::Body([&](Transport& transport) {
                          Pad pad(std::make_shared<RegisteredPool>(transport));
                          Pads pads(pad, lane, 2);
                          body(transport, pad, pads);
                        }));
}

TEST(Pads, AreWhereTheirRanksTell) {
  EXPECT_THAT(
      with_pads(1,
                [](Transport& transport, Pad& pad, Pads& pads) {
                  const auto told = pads.tell(transport);
                  expect(told.has_value(), "nothing told");
                  pads.read(transport, 0, *told);  // as on this rank: both have just begun
                  pads.read(transport, 1, *told);
                  const auto rank = static_cast<std::size_t>(transport.rank());
                  expect(pads.look_up(false).begins[rank] == pad.of_lane(1).data(), "its lane");
                  expect(pads.look_up(true).begins[rank] == pad.of_lane(0).data(), "the first");
                  expect(pads.look_up(false).begins[0] != pads.look_up(false).begins[1], "apart");
                }),
      Each(IsEmpty()));
}

TEST(Pads, AreRenewedWhenACallIsGivenUp) {
  for (const bool is_alone : {false, true})
    EXPECT_THAT(with_pads(1,
                          [&](Transport& transport, Pad& pad, Pads& pads) {
                            const std::byte* const before = pad.of_lane(1).data();
                            pad.of_lane(1)[5] = std::byte{7};
                            pads.give_up(transport, is_alone);
                            expect(pad.of_lane(1).data() == before, "elsewhere");
                            expect(pad.of_lane(1)[5] == std::byte{7}, "not as it was");
                            expect(transport.renewal_count() == (is_alone ? 2U : 1U), "renewals");
                            expect((*pads.tell(transport))[0] == transport.renewal_count(), "told");
                          }),
                Each(IsEmpty()));
}

TEST(Pads, AreRefusedOutsideOfRegisteredMemory) {
  EXPECT_THAT(
      with_pads(0,
                [](Transport& transport, Pad&, Pads& pads) {
                  const std::size_t end = transport.registered(1).size();
                  constexpr std::size_t kBytes = Lane::kCount * Pad::kBytesOfLane;
                  pads.read(transport, 1, {0, end - kBytes});
                  pads.read(transport, 1, {0, end - kBytes + 1});
                }),
      Each(AllOf(HasSubstr("rank 1"), HasSubstr("its pad lies outside of its registered memory"))));
}

TEST(Pad, IsEmptyWhereThereIsNoRegisteredMemory) { EXPECT_TRUE(Pad(nullptr).bytes().empty()); }

}  // namespace
}  // namespace fanin
