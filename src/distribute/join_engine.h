#pragma once

#include <memory>

#include "engines/engine.h"
#include "fanin/join.h"

namespace fanin {

/// The group of an engine's ranks: a call for all of them. Those of one host share memory, for
/// which the engine is asked once; between hosts it carries the messages. Throws as join().
Group join_engine(std::unique_ptr<Engine> engine, bool shares_memory,
                  std::chrono::duration<double> timeout);

}  // namespace fanin
