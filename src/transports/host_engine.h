#pragma once

#include <memory>

#include "engines/engine.h"
#include "transports/transport.h"

namespace fanin {

/// An engine whose messages between ranks of one host go through that host's shared memory, all
/// others through `between`. `inside` has the ranks of this rank's host, in ascending order, and
/// nobody else uses it.
std::unique_ptr<Engine> make_host_engine(std::unique_ptr<Engine> between,
                                         std::unique_ptr<Transport> inside);

/// The ranks of the engine that are on this rank's host, ascending.
std::vector<int> ranks_of_host(const Engine& engine);

}  // namespace fanin
