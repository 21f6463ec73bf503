#pragma once

#include <memory>

#include "transports/links.h"
#include "transports/transport.h"

namespace fanin {

/// Links between ranks that see each other's windows: between each two a ring of bytes in the
/// window of the sender. All ranks make one for their transport, which lives longer and whose
/// windows are used for nothing else.
std::unique_ptr<Links> make_host_links(Transport& transport);

}  // namespace fanin
