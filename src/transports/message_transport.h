#pragma once

#include <cstddef>
#include <memory>

#include "engines/engine.h"
#include "transports/transport.h"

namespace fanin {

/// All ranks of an engine, as ranks that see nothing of each other: what they tell each other is
/// sent. A call for all ranks, none of which may use its transport before all have made theirs.
///
/// A rank that dies is not noticed here: the engine ends the job then, or the deadline comes. Such
/// groups cannot shrink.
std::unique_ptr<Transport> make_message_transport(std::unique_ptr<Engine> engine,
                                                  std::size_t window_bytes = 128 << 10);

}  // namespace fanin
