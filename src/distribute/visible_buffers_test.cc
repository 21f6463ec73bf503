#include "distribute/visible_buffers.h"

#include <gmock/gmock.h>

#include "transports/test_ranks.h"

namespace fanin {
namespace {

using test::expect;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kCount = 4096;  // 16 KiB
constexpr std::size_t kBytes = kCount * sizeof(float);

/// What only its own rank may write of a tensor that lies there on ranks 0 and 1.
std::vector<Layout::Range> kept_at(VisibleBuffers& buffers, Transport& transport, std::size_t first,
                                   std::size_t second) {
  buffers.read(transport, 0, {}, {0, first, first});
  buffers.read(transport, 1, {}, {0, second, second});
  const auto kept = buffers.look_up(transport).kept;
  return {kept.begin(), kept.end()};
}

std::vector<std::string> with_buffers(
    const std::function<void(Transport&, VisibleBuffers&)>& body) {
  return test::outcomes(
      {.kind = test::Kind::kProcesses, .size = 2}, test::Body([&](Transport& transport) {
        VisibleBuffers buffers(
            std::array{kCount},
            make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 2), 2);
        body(transport, buffers);
      }));
}

TEST(VisibleBuffers, OthersWriteWholePagesOnly) {
  EXPECT_THAT(with_buffers([](Transport& transport, VisibleBuffers& buffers) {
                const std::size_t page = transport.registered_unit();
                const std::size_t edge = 64 / sizeof(float);
                const std::size_t in_page = page / sizeof(float);
                expect(kept_at(buffers, transport, 0, page).empty(), "on borders");
                // The same call, with the tensor of one rank elsewhere.
                const auto kept = kept_at(buffers, transport, 0, page + 64);
                expect(kept.size() == 2 && kept[0].begin == 0 && kept[0].end == in_page - edge &&
                           kept[1].begin == kCount - edge && kept[1].end == kCount,
                       "after a border");
                expect(kept_at(buffers, transport, 0, page).empty(), "on borders again");
              }),
              Each(IsEmpty()));
}

TEST(VisibleBuffers, TellsOfOneTensorByWords) {
  EXPECT_THAT(with_buffers([](Transport& transport, VisibleBuffers& buffers) {
                std::byte* const memory = transport.registered(transport.rank()).data();
                const std::byte* const input = memory + 128;
                std::byte* const output = memory + 2 * kBytes;
                const auto words = buffers.tell(transport, transport.note(transport.rank()),
                                                {&input, 1}, {&output, 1});
                expect(words == VisibleBuffers::Words{0, 128, 2 * kBytes}, "registered");
                std::byte elsewhere{};
                std::byte* const private_output = &elsewhere;
                expect(!buffers.tell(transport, transport.note(transport.rank()), {&input, 1},
                                     {&private_output, 1}),
                       "private");
              }),
              Each(IsEmpty()));
}

TEST(VisibleBuffers, RefusesPlacesOutside) {
  EXPECT_THAT(with_buffers([](Transport& transport, VisibleBuffers& buffers) {
                const std::size_t end = transport.registered(1).size();
                buffers.read(transport, 1, {}, {0, 0, end - kBytes});
                buffers.read(transport, 1, {}, {0, 0, end - kBytes + 1});
              }),
              Each(AllOf(HasSubstr("rank 1"),
                         HasSubstr("tensor 0 lies outside of its registered memory"))));
}

}  // namespace
}  // namespace fanin
