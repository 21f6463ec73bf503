#pragma once

// How the processes of one host find each other. Rank 0 listens at a socket file; each other rank
// connects and says hello; the two prove to each other that they know the job's secret, and rank 0
// hands over the shared memory, or says why not. When all are there it removes the file and tells
// them so. Closing a connection early means death.

#include <cstddef>
#include <filesystem>
#include <string>

#include "transports/host_memory.h"
#include "transports/transport.h"

namespace fanin {

struct RendezvousOptions {
  std::filesystem::path path;
  int rank = 0;
  int size = 1;
  std::size_t window_bytes = kDefaultWindowBytes;
  Deadline deadline;
  std::string secret = {};  // the same for all ranks; empty: none
};

/// What a rank has when the group is complete. The pids of all ranks are in the memory.
struct Admission {
  HostMemory memory;
  WakeOrder order;
};

/// For rank 0. Admits the others into `memory`, which `memory_file` holds, and returns the order
/// that all can take part in. Strangers are turned away, and Context::process() is warned of them.
/// Throws DeadlineExceeded, which names the missing ranks, PeerFailure when one of those that had
/// come is gone, InvalidArgument when the path cannot be used.
WakeOrder host_rendezvous(const RendezvousOptions& options, HostMemory& memory, int memory_file,
                          WakeOrder order);

/// For the others. From whoever listens it takes nothing but a refusal before that has proved
/// itself as rank 0. Throws what rank 0 answers; DeadlineExceeded, which names the missing ranks;
/// PeerFailure when rank 0 goes away; InvalidArgument when the path cannot be used or is served by
/// a stranger.
Admission enter_rendezvous(const RendezvousOptions& options, WakeOrder order);

/// "ranks 1 and 3 of 4 have not come": those without a pid. Empty if all have one.
std::string describe_missing(HostMemory& memory);

/// Seconds since `start`, as messages write them.
std::string seconds_since(Deadline start);

/// For poll(): milliseconds until the deadline, at most `limit`, rounded up.
int poll_milliseconds(Deadline deadline, std::chrono::milliseconds limit);

}  // namespace fanin
