// What comes from other ranks through MPI may be anything, if they run another version: it is read
// to no byte beyond its end, and what was read can be written and read again.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "engines/test_engine.h"
#include "fanin/context.h"
#include "transports/message_bundle.h"
#include "transports/message_header.h"
#include "transports/message_hub.h"

namespace {

using Bytes = std::span<const std::byte>;

void read_one(Bytes message) {
  const auto read = fanin::read_header(message);
  if (!read) return;
  if (read->size > message.size()) std::abort();
  const auto again = fanin::read_header(fanin::to_bytes(read->header).bytes());
  if (!again || again->header != read->header) std::abort();
}

void read_several(Bytes content) {
  const auto parts = fanin::read_bundle(content);
  if (!parts) return;
  for (const fanin::BundlePart& part : *parts) read_one(part.said);
  std::vector<std::byte> again(fanin::bundled_size(*parts));
  fanin::write_bundle(*parts, again);
  const auto reread = fanin::read_bundle(again);
  const auto are_equal = [](const fanin::BundlePart& a, const fanin::BundlePart& b) {
    return a.rank == b.rank && std::ranges::equal(a.said, b.said);
  };
  if (!reread || !std::ranges::equal(*parts, *reread, are_equal)) std::abort();
}

/// By a rank that leads its host, from another host and from a neighbour.
void hear(Bytes message) {
  constexpr std::array kMembers{0, 1, 2, 3};
  constexpr std::size_t kWindowBytes = 256;
  const auto post = std::make_shared<fanin::test::LoopEngine::Post>(std::vector{0, 0, 2, 2});
  fanin::MessageHub hub(std::make_unique<fanin::test::LoopEngine>(post, 0), kWindowBytes);
  hub.open(0, 0, kMembers);
  for (const int from : {3, 1}) {
    fanin::Buffer block = fanin::Context::process().buffers().allocate(message.size());
    std::ranges::copy(message, block.bytes().begin());
    fanin::test::LoopEngine(post, from).send(0, std::move(block));
  }
  for (int i = 0; i < 2; ++i) try {
      hub.advance();
    } catch (const fanin::PeerFailure&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  read_one(bytes);
  read_several(bytes);
  hear(bytes);
  return 0;
}
