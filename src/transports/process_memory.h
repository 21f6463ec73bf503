#pragma once

#include <sys/types.h>

#include <span>

#include "transports/transport.h"

namespace fanin {

/// Copies memory of another process, which the kernel, or a container, may forbid. The number of
/// the error, or 0; some of the pieces may have been copied then.
int read_memory_of(pid_t process, std::span<const Transport::Fetched> pieces);

}  // namespace fanin
