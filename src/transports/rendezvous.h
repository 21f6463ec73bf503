#pragma once

// How the processes of one host find each other. Rank 0 listens at a socket file; each other rank
// connects and says hello; rank 0 checks it and hands over the shared memory, or says why not. When
// all are there it removes the file and tells them so. Closing a connection early means death.

#include <cstddef>
#include <cstdint>
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
};

/// A rank's first packet.
struct Hello {
  static constexpr std::uint64_t kMagic = 0x6f6c'6c65'682d'6166;

  std::uint64_t magic = kMagic;
  std::uint32_t version = HostHeader::kVersion;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint32_t pid = 0;
  std::uint64_t window_bytes = 0;
  std::uint32_t wake_order = 0;
  std::uint32_t unused = 0;
};

/// What rank 0 answers; a sentence may follow in the same packet.
struct Reply {
  enum Kind : std::uint32_t {
    kAdmitted,  // with the shared memory's descriptor
    kRefused,   // `detail` is an ErrorKind, the sentence says why
    kComplete,  // `detail` is the WakeOrder of the group
  };
  std::uint32_t kind = kAdmitted;
  std::uint32_t detail = 0;
};

/// What a rank has when the group is complete. The pids of all ranks are in the memory.
struct Admission {
  HostMemory memory;
  WakeOrder order;
};

/// For rank 0. Admits the others into `memory`, which `memory_file` holds, and returns the order
/// that all can take part in. Throws DeadlineExceeded, which names the missing ranks, PeerFailure
/// when one of those that had come is gone, InvalidArgument when the path cannot be used.
WakeOrder host_rendezvous(const RendezvousOptions& options, HostMemory& memory, int memory_file,
                          WakeOrder order);

/// For the others. Throws what rank 0 answers; DeadlineExceeded, which names the missing ranks;
/// PeerFailure when rank 0 goes away; InvalidArgument when the path cannot be used.
Admission enter_rendezvous(const RendezvousOptions& options, WakeOrder order);

/// "ranks 1 and 3 of 4 have not come": those without a pid. Empty if all have one.
std::string describe_missing(HostMemory& memory);

/// Seconds since `start`, as messages write them.
std::string seconds_since(Deadline start);

/// For poll(): milliseconds until the deadline, at most `limit`, rounded up.
int poll_milliseconds(Deadline deadline, std::chrono::milliseconds limit);

}  // namespace fanin
