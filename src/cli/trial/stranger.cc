// Trials of others at the rendezvous: who has another secret, says nonsense, says nothing, or wants
// to be a rank that is taken.

#include <fmt/format.h>

#include <array>
#include <random>
#include <thread>

#include "cli/trial/rank_run.h"
#include "cli/trial/trials.h"
#include "fanin/context.h"
#include "fanin/error.h"
#include "transports/rendezvous.h"
#include "transports/shared_memory.h"
#include "transports/unix_socket.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

enum class Stranger { kWrongSecret, kNoSecret, kNonsense, kSilent, kWrongSize, kTakenRank };
constexpr std::array kStrangers = {Stranger::kWrongSecret, Stranger::kNoSecret,
                                   Stranger::kNonsense,    Stranger::kSilent,
                                   Stranger::kWrongSize,   Stranger::kTakenRank};
constexpr std::array<std::string_view, kStrangers.size()> kStrangerNames = {
    "another secret", "no secret",          "nonsense",
    "nothing to say", "another world size", "a rank that is taken"};

constexpr int kMemberCount = 3;
constexpr int kStrangerCount = 4;

RendezvousOptions options_of(const std::string& path, int rank) {
  RendezvousOptions options;
  options.path = path;
  options.rank = rank;
  options.size = kMemberCount;
  options.deadline = deadline_after(std::chrono::seconds(20));
  options.secret = "the job's own";
  return options;
}

/// Connects as soon as there is somebody; none if nobody comes.
FileDescriptor connect_to(const std::string& path) {
  for (int attempt = 0; attempt < 2000; ++attempt) {
    if (FileDescriptor socket = try_connect(path)) return socket;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

/// What the stranger was told; it must not get in.
json work_as_stranger(Stranger stranger, const std::string& path, std::uint64_t seed) {
  if (stranger == Stranger::kNonsense || stranger == Stranger::kSilent) {
    const FileDescriptor socket = connect_to(path);
    if (!socket) return {{"turned_away", true}};  // the group was complete before
    std::mt19937_64 random(seed);
    std::array<std::byte, 200> packet{};
    for (std::byte& byte : packet) byte = static_cast<std::byte>(random());
    if (stranger == Stranger::kNonsense)
      send_packet(socket.get(), std::span(packet).first(random() % packet.size() + 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return {{"turned_away", true}};
  }
  RendezvousOptions options = options_of(path, 1);
  options.deadline = deadline_after(std::chrono::seconds(2));
  if (stranger == Stranger::kWrongSecret) options.secret = "guessed";
  if (stranger == Stranger::kNoSecret) options.secret = "";
  if (stranger == Stranger::kWrongSize) {
    options.size = kMemberCount + 1;
    options.secret = "guessed";
  }
  if (stranger == Stranger::kTakenRank) {
    // That of rank 0 is taken as soon as somebody listens; any other a stranger with the job's
    // secret might have before its owner comes.
    if (!connect_to(path)) return {{"turned_away", true}};
    options.rank = 0;
  }
  try {
    join_shared_memory(options);
    return {{"turned_away", false}};
  } catch (const Error& error) {
    return {{"turned_away", true}, {"sentence", error.what()}};
  }
}

json work_as_member(int rank, const std::string& path) {
  int warning_count = 0;
  Context::process().on_warning([&](std::string_view) { ++warning_count; });
  // The others let the strangers come first.
  if (rank > 0) std::this_thread::sleep_for(std::chrono::milliseconds(150));
  Group group(join_shared_memory(options_of(path, rank)), std::chrono::seconds(10));
  const int wrong = sums_right(group, 1000, {}) ? 0 : 1;
  return {{"wrong", wrong}, {"warnings", warning_count}};
}

}  // namespace

std::size_t count_strangers(const TrialSize& size) {
  return kStrangers.size() * (size.is_quick ? 1 : 20);
}

void run_strangers(const TrialSize& size, Figures& figures, Progress& progress) {
  const std::size_t rounds = count_strangers(size) / kStrangers.size();
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const Stranger stranger : kStrangers) {
      const std::string_view what = kStrangerNames[static_cast<std::size_t>(stranger)];
      progress.start(fmt::format("strangers with {}", what));
      const std::vector<json> reports = run_ranks(
          kMemberCount + kStrangerCount,
          [&](int process, const std::string& path) {
            return process < kMemberCount
                       ? work_as_member(process, path)
                       : work_as_stranger(stranger, path,
                                          size.seed + static_cast<std::uint64_t>(process));
          },
          60, figures);
      for (std::size_t i = 0; i < reports.size(); ++i) {
        const json& report = reports[i];
        const auto complain = [&](int& figure) {
          ++figure;
          figures.complaints.push_back(
              fmt::format("strangers with {}: process {}: {}", what, i, report.dump()));
        };
        if (i < kMemberCount) {
          ++figures.calls;
          if (!report.contains("wrong")) complain(figures.stuck);
          figures.in_time += report.contains("wrong") ? 1 : 0;
          figures.wrong += report.value("wrong", 0);
          continue;
        }
        ++figures.errors;
        const bool is_away = report.value("turned_away", false);
        figures.named += is_away ? 1 : 0;
        if (!is_away) complain(figures.wrong);
      }
      // Who spoke as a rank does, and was none, is logged. A second rank 0 speaks to nobody.
      const bool must_warn = stranger != Stranger::kSilent && stranger != Stranger::kTakenRank;
      if (must_warn && reports.front().value("warnings", 0) == 0) {
        ++figures.stuck;
        figures.complaints.push_back(fmt::format("strangers with {} were not logged", what));
      }
      progress.add(1);
    }
  }
}

}  // namespace fanin::cli
