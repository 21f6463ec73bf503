// The one place that reads the environment.

#include "distribute/join_options.h"

#include <unistd.h>

#include <cmath>

#include "core/require.h"
#include "distribute/environment.h"
#include "distribute/launched_rank.h"
#include "distribute/private_folder.h"
#include "distribute/secret_file.h"

namespace fanin {
namespace {

std::chrono::duration<double> read_timeout(std::string_view text) {
  double seconds = 0;
  require(parse_number(text, seconds) && std::isfinite(seconds) && seconds > 0,
          ErrorKind::kBadOption,
          "FANIN_TIMEOUT_SECONDS is \"{}\", which is no number of seconds above 0", text);
  return std::chrono::duration<double>(seconds);
}

std::string read_secret() {
  const std::string_view file = read_variable("FANIN_SECRET_FILE");
  if (file.empty()) return std::string(read_variable("FANIN_SECRET"));
  require(!is_set("FANIN_SECRET"), ErrorKind::kBadOption,
          "FANIN_SECRET and FANIN_SECRET_FILE are both set; a job has one secret: unset one of "
          "them");
  return read_secret_file(file, ::geteuid());
}

/// The engine that FANIN_ENGINE names, or what has started this process: MPI, or somebody else who
/// speaks PMIx; not where the rank is known already.
std::string read_engine(bool is_launched) {
  const std::string_view asked = read_variable("FANIN_ENGINE");
  if (asked == "none") return "";
  if (!asked.empty()) return std::string(asked);
  if (is_launched) return "";
  if (std::string mpi = find_launching_mpi(); !mpi.empty()) return mpi;
  return is_set("PMIX_RANK") && is_set("PMIX_NAMESPACE") ? "pmix" : "";
}

}  // namespace

JoinOptions JoinOptions::from_environment() { return read_join_options(""); }

JoinOptions read_join_options(std::string_view engine) {
  JoinOptions options;
  options.rendezvous = read_variable("FANIN_RENDEZVOUS");
  const bool has_rendezvous = !options.rendezvous.empty();
  const std::optional<LaunchedRank> launched = find_launched_rank(has_rendezvous);
  require(launched || !has_rendezvous || !engine.empty() || is_set("FANIN_ENGINE"),
          ErrorKind::kBadOption,
          "FANIN_RENDEZVOUS is set but FANIN_RANK is not; set FANIN_RANK and FANIN_WORLD_SIZE, or "
          "start the ranks by \"fanin launch\"");
  options.engine = engine.empty() ? read_engine(launched.has_value()) : std::string(engine);
  if (launched) {
    options.rank = launched->rank;
    options.world_size = launched->size;
    require(!options.engine.empty() || launched->obstacle.empty(), ErrorKind::kBadOption, "{}",
            launched->obstacle);
    if (options.engine.empty() && !has_rendezvous && !launched->meeting_name.empty())
      options.rendezvous =
          "file:" +
          (find_private_folder(read_variable("XDG_RUNTIME_DIR")) / launched->meeting_name).native();
  }
  options.modules = read_variable("FANIN_MODULES");
  if (is_set("FANIN_SHARE_MEMORY")) options.shares_memory = read_count("FANIN_SHARE_MEMORY") != 0;
  options.secret = read_secret();
  if (const std::string_view text = read_variable("FANIN_TIMEOUT_SECONDS"); !text.empty())
    options.timeout = read_timeout(text);
  return options;
}

}  // namespace fanin
