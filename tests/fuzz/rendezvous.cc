// A stranger may say anything, to rank 0 or in its place: it is refused with a sentence or
// challenged, never admitted, and no packet is read beyond its end.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "transports/doorkeeper.h"

namespace {

using Bytes = std::span<const std::byte>;

/// The secret has no letter that a sentence uses.
fanin::RendezvousOptions make_options() {
  fanin::RendezvousOptions options;
  options.size = 4;
  options.window_bytes = 4096;
  options.secret = "#########";
  return options;
}

void check_refusal(const fanin::Refusal& refusal) {
  if (refusal.sentence.empty() || refusal.sentence.find('#') != std::string::npos) std::abort();
}

void visit_rank_zero(Bytes hello, Bytes proof) {
  static const fanin::RendezvousOptions options = make_options();
  const fanin::Doorkeeper doorkeeper(options, {.pid = 90, .uid = 1000});
  fanin::Visitor visitor{{.pid = 91, .uid = 1000}};
  if (const auto refusal = doorkeeper.hear_hello(visitor, hello)) {
    if (visitor.hello) std::abort();
    return check_refusal(*refusal);
  }
  const fanin::Challenge challenge = doorkeeper.challenge_for(visitor);
  for (const Bytes answer : {proof, Bytes(challenge.proof), Bytes(challenge.nonce)}) {
    const auto refusal = doorkeeper.hear_proof(visitor, answer);
    if (!refusal) std::abort();
    check_refusal(*refusal);
  }
}

/// What a guest reads of a reply, as it reads it.
void be_rank_zero(Bytes packet) {
  const auto reply = fanin::read_reply(packet);
  if (!reply) return;
  if (reply->sentence().size() + sizeof(fanin::Reply) != packet.size()) std::abort();
  const auto challenge = fanin::read_exactly<fanin::Challenge>(reply->rest);
  if (challenge && fanin::is_proof(challenge->proof, "secret", fanin::ProofRole::kRankZero,
                                   {.rank = 1, .size = 4, .rank_zero_nonce = challenge->nonce}))
    std::abort();
  const auto again = fanin::make_reply(reply->reply, reply->rest);
  if (!std::ranges::equal(again, packet)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const std::size_t split = std::min(size, sizeof(fanin::Hello));
  visit_rank_zero(bytes.first(split), bytes.subspan(split));
  visit_rank_zero(bytes, {});
  be_rank_zero(bytes);
  return 0;
}
