#include "fanin/join.h"

#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "core/require.h"
#include "distribute/join_engine.h"
#include "distribute/private_folder.h"
#include "engines/mpi_engine.h"
#include "engines/pmix.h"
#include "transports/in_process.h"
#include "transports/rendezvous.h"
#include "transports/secret_proof.h"
#include "transports/shared_memory.h"

namespace fanin {
namespace {

void require_timeout(std::chrono::duration<double> timeout) {
  require(timeout.count() > 0, ErrorKind::kBadOption, "the timeout must be above 0 seconds, got {}",
          timeout.count());
}

constexpr std::string_view kScheme = "file:";
constexpr std::string_view kStoreKey = "fanin/rendezvous";
constexpr std::string_view kSecretKey = "fanin/secret";

bool names_path(std::string_view rendezvous) {
  return rendezvous.starts_with(kScheme) && rendezvous.size() > kScheme.size();
}

std::filesystem::path path_of(std::string_view rendezvous) {
  const std::filesystem::path path = rendezvous.substr(kScheme.size());
  std::error_code ignored;
  const bool is_folder = !path.has_filename() || std::filesystem::is_directory(path, ignored);
  return is_folder ? path / kSocketName : path;
}

std::filesystem::path path_of(const JoinOptions& options) {
  require(!options.rendezvous.empty(), ErrorKind::kBadOption,
          "{} ranks need a rendezvous to find each other, such as \"file:/tmp/my-job/socket\"; "
          "set FANIN_RENDEZVOUS, or start the ranks by \"fanin launch\"",
          options.world_size);
  require(names_path(options.rendezvous), ErrorKind::kBadOption,
          "rendezvous \"{}\" is not known; use file:PATH", options.rendezvous);
  return path_of(options.rendezvous);
}

/// Where rank 0 waits, from its note in the store.
std::filesystem::path path_in(const JoinStore& store, Deadline deadline) {
  const std::string note = store.get(kStoreKey, deadline);
  require(names_path(note), ErrorKind::kBadOption,
          "the store has {} bytes under \"{}\" that are no note of rank 0; does anything else use "
          "this key?",
          note.size(), kStoreKey);
  std::filesystem::path path = path_of(note);
  std::error_code ignored;
  require(std::filesystem::is_directory(path.parent_path(), ignored), ErrorKind::kRankMismatch,
          "rank 0 waits in \"{}\", says the store, but that is not there; is rank 0 on another "
          "host, has it given up, or is this the note of an earlier join?",
          path.parent_path().native());
  return path;
}

Group join_at(const std::filesystem::path& path, const JoinOptions& options, Deadline deadline) {
  return Group(join_shared_memory({.path = path,
                                   .rank = options.rank,
                                   .size = options.world_size,
                                   .window_bytes = kDefaultWindowBytes,
                                   .deadline = deadline,
                                   .secret = options.secret}),
               options.timeout);
}

Group join_by_store(const JoinStore& store, const JoinOptions& options, Deadline deadline) {
  require(store.set && store.get, ErrorKind::kBadOption,
          "a store needs both of its functions, set and get");
  if (options.rank != 0) return join_at(path_in(store, deadline), options, deadline);
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / kSocketName;
  store.set(kStoreKey, std::string(kScheme) + path.native());
  return join_at(path, options, deadline);
}

/// The ranks that a launcher has started which speaks PMIx; they meet by its notes.
Group join_by_pmix(JoinOptions options) {
  const Pmix pmix(options.modules);
  if (pmix.local_size() != pmix.size())
    throw Unavailable(fmt::format(
        "the launcher has started {} ranks, {} of them on this host; between hosts MPI carries the "
        "messages: set FANIN_ENGINE to openmpi or mpich, and start the ranks by its mpirun",
        pmix.size(), pmix.local_size()));
  const Deadline deadline = deadline_after(options.timeout);
  const auto time_left = [&] { return std::chrono::duration<double>(deadline - Clock::now()); };
  if (options.secret.empty() && pmix.rank() == 0) {
    options.secret = make_secret();
    pmix.put(kSecretKey, options.secret);
  } else if (options.secret.empty()) {
    options.secret = pmix.get(kSecretKey, time_left());
  }
  options.engine.clear();
  options.rank = pmix.rank();
  options.world_size = pmix.size();
  options.store =
      JoinStore{.set = [&](std::string_view key, std::string_view note) { pmix.put(key, note); },
                .get = [&](std::string_view key, Deadline) { return pmix.get(key, time_left()); }};
  return join(options);
}

}  // namespace

Group join(const JoinOptions& options) {
  if (!options.engine.empty()) {
    require_timeout(options.timeout);
    if (options.engine == "pmix") return join_by_pmix(options);
    std::unique_ptr<Engine> mpi = open_mpi({.library = options.engine, .modules = options.modules},
                                           options.communicator, options.timeout);
    require(options.communicator != nullptr || options.world_size <= 1 ||
                options.world_size == mpi->size(),
            ErrorKind::kBadOption,
            "the world size is {}, but {} knows of {} ranks, so it has not started these; start "
            "them by its mpirun, or unset FANIN_ENGINE",
            options.world_size, mpi->describe(), mpi->size());
    return join_engine(std::move(mpi), options.shares_memory, options.timeout);
  }
  require(options.world_size >= 1, ErrorKind::kBadOption,
          "the world size must be 1 or more, got {}", options.world_size);
  require(options.rank >= 0 && options.rank < options.world_size, ErrorKind::kBadOption,
          "rank {} does not exist in a world of {}; ranks count from 0", options.rank,
          options.world_size);
  require_timeout(options.timeout);
  if (options.world_size == 1) return std::move(in_process(1, options.timeout).front());
  const Deadline deadline = deadline_after(options.timeout);
  if (options.store) return join_by_store(*options.store, options, deadline);
  return join_at(path_of(options), options, deadline);
}

std::vector<Group> in_process(int rank_count, std::chrono::duration<double> timeout) {
  require_timeout(timeout);
  std::vector<Group> groups;
  for (std::unique_ptr<Transport>& transport : make_in_process(rank_count, kDefaultWindowBytes))
    groups.emplace_back(std::move(transport), timeout);
  return groups;
}

}  // namespace fanin
