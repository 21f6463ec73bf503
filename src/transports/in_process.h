#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transports/flag_wait.h"
#include "transports/transport.h"

namespace fanin {

/// Threads of this process as ranks: one transport for each. Throws InvalidArgument (kBadOption)
/// for an impossible size, and Unavailable when there is no memory.
std::vector<std::unique_ptr<Transport>> make_in_process(int size, std::size_t window_bytes);
std::vector<std::unique_ptr<Transport>> make_in_process(int size, std::size_t window_bytes,
                                                        WaitTuning tuning);

}  // namespace fanin
