#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "transports/host_memory.h"
#include "transports/transport.h"

namespace fanin {

struct RendezvousOptions;

/// Joins the processes that meet at the socket file `path` as `rank` of `size`. Returns when all
/// are there. The shared memory has no name, and the socket file is gone then, so that nothing
/// stays behind however the processes end.
///
/// Throws InvalidArgument when the path cannot be used or what this rank asks for does not fit the
/// others (rank taken, another size, another secret); DeadlineExceeded, which names the missing
/// ranks; PeerFailure when a rank dies meanwhile; Unavailable when the system refuses.
///
/// Without `tuning`, ranks spin if each of them can have a core of its own.
std::unique_ptr<Transport> join_shared_memory(const RendezvousOptions& options,
                                              std::optional<WaitTuning> tuning = std::nullopt);

/// The same without a secret.
std::unique_ptr<Transport> join_shared_memory(const std::filesystem::path& path, int rank, int size,
                                              std::size_t window_bytes, Deadline deadline,
                                              std::optional<WaitTuning> tuning = std::nullopt);

}  // namespace fanin
