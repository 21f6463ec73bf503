// The module of one MPI library: compiled with its header, once for each.

#include <mpi.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "engines/mpi_table.h"

// Of Open MPI, but not in its mpi.h; other libraries do not have it.
extern "C" [[gnu::weak]] bool opal_progress_set_yield_when_idle(bool yields);

namespace {

/// As long as it lives, MPI keeps the core. Where ranks outnumber cores, Open MPI lets other
/// processes run in each call that finds nothing done, even if it takes a message from the wire
/// meanwhile. Those who wait here know better when there is nothing to do, and do so themselves.
class Stay {
 public:
  Stay() : did_yield_(set(false)) {}
  ~Stay() { set(did_yield_); }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

 private:
  static bool set(bool yields) {
    return opal_progress_set_yield_when_idle != nullptr &&
           opal_progress_set_yield_when_idle(yields);
  }

  bool did_yield_;
};

// Handles are ints in MPICH and pointers in Open MPI.
template <class Handle>
struct Kept {
  Handle handle;
};

template <class Handle>
std::uint64_t to_word(Handle handle) {
  const Kept<Handle> kept{handle};
  static_assert(sizeof kept <= sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, &kept, sizeof kept);
  return word;
}

template <class Handle>
Handle from_word(std::uint64_t word) {
  Kept<Handle> kept;
  std::memcpy(&kept, &word, sizeof kept);
  return kept.handle;
}

/// A communicator of Fanin's own, which all groups over a communicator of the user's share, one
/// after the other. Each has another tag, so that it hears nothing of those before.
struct Twin {
  MPI_Comm communicator = MPI_COMM_NULL;
  int tag = 0;
};

// MPI is one for the process, and so are these.
std::vector<std::unique_ptr<Twin>> twins;
int twin_key = MPI_KEYVAL_INVALID;  // finds the twin of a user's communicator

Twin& twin_of(std::uint64_t word) { return *from_word<Twin*>(word); }

constexpr int kMostTags = 32767;  // what every MPI has

/// Text of MPI, up to the end of its first line.
void copy_line(const char* line, std::size_t length, char* text, std::size_t size) {
  const std::size_t end = std::min({std::strcspn(line, "\n"), length, size - 1});
  std::memcpy(text, line, end);
  text[end] = '\0';
}

void describe(char* text, std::size_t size) {
  char line[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(line, &length);
  copy_line(line, static_cast<std::size_t>(length), text, size);
}

void explain(int error, char* text, std::size_t size) {
  char line[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, line, &length);
  copy_line(line, static_cast<std::size_t>(length), text, size);
}

int find_state(int* is_initialized, int* is_finalized) {
  const int error = MPI_Initialized(is_initialized);
  return error != MPI_SUCCESS ? error : MPI_Finalized(is_finalized);
}

/// Receives what nobody will: MPI_Finalize minds messages that were never received, and ranks do
/// not leave a group at the same moment.
void drain(const Twin& twin) {
  MPI_Request all = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(twin.communicator, &all) != MPI_SUCCESS) return;
  std::vector<char> bytes;
  for (int has_ended = 0; has_ended == 0;) {
    if (MPI_Test(&all, &has_ended, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    int is_here = 0;
    MPI_Status status;
    while (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, twin.communicator, &is_here, &status) ==
               MPI_SUCCESS &&
           is_here != 0) {
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      bytes.resize(static_cast<std::size_t>(count));
      MPI_Recv(bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, twin.communicator,
               MPI_STATUS_IGNORE);
    }
  }
}

/// MPI_Finalize deletes what is attached to MPI_COMM_SELF before anything else, so this is the last
/// moment, whoever calls it.
int drain_all(MPI_Comm, int, void*, void*) {
  for (const auto& twin : twins) drain(*twin);
  return MPI_SUCCESS;
}

int make_keys() {
  if (twin_key != MPI_KEYVAL_INVALID) return MPI_SUCCESS;
  int error =
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &twin_key, nullptr);
  if (error != MPI_SUCCESS) return error;
  int last_key = MPI_KEYVAL_INVALID;
  error = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drain_all, &last_key, nullptr);
  return error != MPI_SUCCESS ? error : MPI_Comm_set_attr(MPI_COMM_SELF, last_key, nullptr);
}

#ifdef MPICH_VERSION
/// MPICH 4.0 over UCX's TCP sometimes waits for ever in MPI_Finalize, of any program. So MPICH is
/// left as it is, but its mpirun must be told, as MPI_Finalize would, or it kills the other ranks.
void finalize() {
  drain_all(MPI_COMM_SELF, 0, nullptr, nullptr);
  const char* const descriptor = std::getenv("PMI_FD");
  if (descriptor == nullptr) return;  // no mpirun
  const int mpirun = std::atoi(descriptor);
  constexpr std::string_view kWord = "cmd=finalize\n";
  if (::write(mpirun, kWord.data(), kWord.size()) != static_cast<ssize_t>(kWord.size())) return;
  constexpr int kMostMilliseconds = 5000;
  pollfd answer{.fd = mpirun, .events = POLLIN, .revents = 0};
  char letter = 0;
  while (::poll(&answer, 1, kMostMilliseconds) == 1 && ::read(mpirun, &letter, 1) == 1)
    if (letter == '\n') return;
}
#else
void finalize() { MPI_Finalize(); }
#endif

/// A rank that fails must not wait for the others, as MPI_Finalize does: without it, mpirun ends
/// the job.
void finalize_at_exit(int status, void*) {
  if (status != 0) return;
  int is_finalized = 0;
  if (MPI_Finalized(&is_finalized) != MPI_SUCCESS || is_finalized != 0) return;
  finalize();
}

int initialize() {
  int level = 0;
  const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  if (error == MPI_SUCCESS) ::on_exit(finalize_at_exit, nullptr);
  return error;
}

int serves_threads(int* answer) {
  int level = MPI_THREAD_SINGLE;
  const int error = MPI_Query_thread(&level);
  *answer = level >= MPI_THREAD_SERIALIZED ? 1 : 0;
  return error;
}

MPI_Comm communicator_at(const void* user) {
  return user == nullptr ? MPI_COMM_WORLD : *static_cast<const MPI_Comm*>(user);
}

int find_rank(const void* user, int* rank, int* size) {
  const int error = MPI_Comm_rank(communicator_at(user), rank);
  return error != MPI_SUCCESS ? error : MPI_Comm_size(communicator_at(user), size);
}

int meet(const void* user, std::uint64_t own, std::uint64_t* request) {
  MPI_Request begun = MPI_REQUEST_NULL;
  const int error =
      MPI_Ibarrier(own == 0 ? communicator_at(user) : twin_of(own).communicator, &begun);
  *request = to_word(begun);
  return error;
}

int open(const void* user, std::uint64_t* communicator, int* rank, int* size) {
  if (const int error = make_keys(); error != MPI_SUCCESS) return error;
  const MPI_Comm from = communicator_at(user);
  void* found = nullptr;
  int is_found = 0;
  int error = MPI_Comm_get_attr(from, twin_key, static_cast<void*>(&found), &is_found);
  if (error != MPI_SUCCESS) return error;
  if (is_found == 0) {
    auto twin = std::make_unique<Twin>();
    error = MPI_Comm_dup(from, &twin->communicator);
    if (error != MPI_SUCCESS) return error;
    MPI_Comm_set_errhandler(twin->communicator, MPI_ERRORS_RETURN);
    found = twin.get();
    twins.push_back(std::move(twin));
    error = MPI_Comm_set_attr(from, twin_key, found);
    if (error != MPI_SUCCESS) return error;
  }
  auto* const twin = static_cast<Twin*>(found);
  twin->tag = (twin->tag + 1) % kMostTags;
  *communicator = to_word(twin);
  MPI_Comm_rank(twin->communicator, rank);
  return MPI_Comm_size(twin->communicator, size);
}

int find_hosts(std::uint64_t communicator, int* hosts) {
  const MPI_Comm all = twin_of(communicator).communicator;
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  MPI_Comm local = MPI_COMM_NULL;
  int error = MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &local);
  if (error != MPI_SUCCESS) return error;
  int lowest = rank;
  error = MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, local);
  MPI_Comm_free(&local);
  if (error != MPI_SUCCESS) return error;
  return MPI_Allgather(&lowest, 1, MPI_INT, hosts, 1, MPI_INT, all);
}

int send(std::uint64_t communicator, const void* bytes, std::size_t size, int peer,
         std::uint64_t* request) {
  if (size > std::numeric_limits<int>::max()) return MPI_ERR_COUNT;
  MPI_Request begun = MPI_REQUEST_NULL;
  const int error =
      MPI_Isend(bytes, static_cast<int>(size), MPI_BYTE, peer, twin_of(communicator).tag,
                twin_of(communicator).communicator, &begun);
  *request = to_word(begun);
  return error;
}

int probe(std::uint64_t communicator, int* is_here, int* peer, std::size_t* size,
          std::uint64_t* message) {
  MPI_Message found = MPI_MESSAGE_NULL;
  MPI_Status status;
  const Stay stay;
  const auto look = [&] {
    return MPI_Improbe(MPI_ANY_SOURCE, twin_of(communicator).tag,
                       twin_of(communicator).communicator, is_here, &found, &status);
  };
  int error = look();
  // Open MPI looks first and takes from the wire then, so only the next look sees that.
  if (error == MPI_SUCCESS && *is_here == 0) error = look();
  if (error != MPI_SUCCESS || *is_here == 0) return error;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *peer = status.MPI_SOURCE;
  *size = static_cast<std::size_t>(count);
  *message = to_word(found);
  return MPI_SUCCESS;
}

int receive(std::uint64_t message, void* bytes, std::size_t size, std::uint64_t* request) {
  auto found = from_word<MPI_Message>(message);
  MPI_Request begun = MPI_REQUEST_NULL;
  const int error = MPI_Imrecv(bytes, static_cast<int>(size), MPI_BYTE, &found, &begun);
  *request = to_word(begun);
  return error;
}

int test(std::uint64_t* request, int* is_done) {
  const Stay stay;
  auto begun = from_word<MPI_Request>(*request);
  const int error = MPI_Test(&begun, is_done, MPI_STATUS_IGNORE);
  *request = to_word(begun);
  return error;
}

}  // namespace

extern "C" const FaninMpi* fanin_mpi_table_4() {
  static const FaninMpi table = {
      .describe = describe,
      .explain = explain,
      .find_state = find_state,
      .initialize = initialize,
      .serves_threads = serves_threads,
      .find_rank = find_rank,
      .meet = meet,
      .open = open,
      .find_hosts = find_hosts,
      .send = send,
      .probe = probe,
      .receive = receive,
      .test = test,
  };
  return &table;
}
