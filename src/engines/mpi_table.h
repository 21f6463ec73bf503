#pragma once

#include <cstddef>
#include <cstdint>

// What Fanin asks of an MPI library, as a table of C functions. Every MPI has other types and
// constants behind the same names, so there is one module for each, which is compiled with its
// header and loaded when it is needed: the rest of Fanin works without any.
//
// Functions return 0 or an error number of MPI. Communicators, messages and requests of MPI are
// kept in words.

extern "C" {

struct FaninMpi {
  /// The first line of what the library says about itself; may be called before anything else.
  void (*describe)(char* text, std::size_t size);

  void (*explain)(int error, char* text, std::size_t size);

  /// Whether the process has begun, and whether it has ended, using MPI.
  int (*find_state)(int* is_initialized, int* is_finalized);

  /// Initialises MPI; it is ended when the process exits.
  int (*initialize)();

  /// Whether threads may take turns to call MPI.
  int (*serves_threads)(int* answer);

  /// Which rank of a communicator this is, and how many there are; `user` as in open().
  int (*find_rank)(const void* user, int* rank, int* size);

  /// Begins to wait for all ranks of a communicator: of `own` if it is not 0, else as in open().
  int (*meet)(const void* user, std::uint64_t own, std::uint64_t* request);

  /// A communicator of Fanin's own with the ranks of another: `*user` is an MPI_Comm; null means
  /// all. It hears nothing of what went on in one that was opened before. A call of all its ranks.
  int (*open)(const void* user, std::uint64_t* communicator, int* rank, int* size);

  /// For each rank the lowest rank on the same host. A call of all ranks.
  int (*find_hosts)(std::uint64_t communicator, int* hosts);

  int (*send)(std::uint64_t communicator, const void* bytes, std::size_t size, int peer,
              std::uint64_t* request);

  /// The next message of any rank, if one has come; it must be received.
  int (*probe)(std::uint64_t communicator, int* is_here, int* peer, std::size_t* size,
               std::uint64_t* message);
  int (*receive)(std::uint64_t message, void* bytes, std::size_t size, std::uint64_t* request);

  /// Whether the request is done; it is gone then.
  int (*test)(std::uint64_t* request, int* is_done);
};

/// The one symbol of a module. A table that changes gets another name.
[[gnu::visibility("default")]] const FaninMpi* fanin_mpi_table_4();
}
