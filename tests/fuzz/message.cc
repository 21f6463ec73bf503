// What comes from other ranks through MPI may be anything, if they run another version: it is read
// to no byte beyond its end, and what was read can be written and read again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "transports/message_bundle.h"
#include "transports/message_header.h"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  read_one(bytes);
  read_several(bytes);
  return 0;
}
