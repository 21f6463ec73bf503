#include "distribute/join_engine.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "core/require.h"
#include "distribute/private_folder.h"
#include "fanin/context.h"
#include "transports/host_engine.h"
#include "transports/message_transport.h"
#include "transports/rendezvous.h"
#include "transports/secret_proof.h"
#include "transports/shared_memory.h"

namespace fanin {
namespace {

/// Where the ranks of one host meet, and their secret.
struct Meeting {
  std::string path;
  std::string secret;
};

void tell(Engine& engine, int peer, const Meeting& meeting) {
  const std::string text = meeting.secret + '\n' + meeting.path;
  const Buffer block = Context::process().buffers().allocate(text.size());
  std::memcpy(block.bytes().data(), text.data(), text.size());
  engine.send(peer, block);
}

Meeting hear(Engine& engine, int from, Deadline deadline) {
  for (;;) {
    if (const auto arrival = engine.advance()) {
      const std::string_view text(reinterpret_cast<const char*>(arrival->block.bytes().data()),
                                  arrival->block.size());
      const std::size_t end = std::min(text.find('\n'), text.size() - 1);
      return {.path = std::string(text.substr(end + 1)),
              .secret = std::string(text.substr(0, end))};
    }
    if (Clock::now() >= deadline)
      throw DeadlineExceeded(
          fmt::format("rank {} waited until the deadline for rank {}, which should say where the "
                      "ranks of this host meet",
                      engine.rank(), from));
    std::this_thread::yield();
  }
}

/// Shared memory of this host's ranks.
std::unique_ptr<Transport> join_host(Engine& engine, Deadline deadline) {
  const std::vector<int> ranks = ranks_of_host(engine);
  const auto mine = std::ranges::find(ranks, engine.rank());
  const auto join_at = [&](const Meeting& meeting) {
    return join_shared_memory({.path = meeting.path,
                               .rank = static_cast<int>(mine - ranks.begin()),
                               .size = static_cast<int>(ranks.size()),
                               .window_bytes = kDefaultWindowBytes,
                               .deadline = deadline,
                               .secret = meeting.secret});
  };
  if (mine != ranks.begin()) return join_at(hear(engine, ranks.front(), deadline));
  const TemporaryFolder folder;
  const Meeting meeting{.path = (folder.path() / kSocketName).native(), .secret = make_secret()};
  for (auto peer = ranks.begin() + 1; peer != ranks.end(); ++peer) tell(engine, *peer, meeting);
  return join_at(meeting);
}

}  // namespace

Group join_engine(std::unique_ptr<Engine> engine, bool shares_memory,
                  std::chrono::duration<double> timeout) {
  if (engine->size() == 1) return std::move(in_process(1, timeout).front());
  const Deadline deadline = deadline_after(timeout);
  const bool has_neighbours = ranks_of_host(*engine).size() > 1;
  std::unique_ptr<Transport> inside =
      shares_memory && has_neighbours ? join_host(*engine, deadline) : nullptr;
  if (inside && inside->size() == engine->size()) return Group(std::move(inside), timeout);
  engine->meet(timeout);
  if (inside) engine = make_host_engine(std::move(engine), std::move(inside));
  return Group(make_message_transport(std::move(engine)), timeout);
}

}  // namespace fanin
