#include "cli/algorithms/document.h"

#include <fmt/format.h>

#include <list>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/algorithms/prose.h"
#include "core/require.h"
#include "fanin/algorithms.h"
#include "fanin/schedule_cost.h"
#include "files/whole_file.h"

namespace fanin::cli {
namespace {

namespace fs = std::filesystem;

/// A file of the document, by its path within the folder.
struct Piece {
  std::string path;
  std::string content;
};

/// What the document says of one algorithm.
struct Chapter {
  std::string_view name;
  std::string_view spec_names;
  std::string_view description;
  std::string_view paper;
  int devices = 1;  // of each worker, in its picture and its table
};

std::string cost_cells(const Schedule& schedule) {
  const ScheduleCost cost = cost_of(schedule);
  return fmt::format("{} | {} | {:.4g}", cost.round_count, cost.message_count,
                     cost.share(cost.most_sent));
}

constexpr std::string_view kCostHeads = "rounds | messages | share sent by the busiest place";

std::string cost_table(const Chapter& chapter) {
  std::string table = fmt::format("| ranks | {} |\n| ---: | ---: | ---: | ---: |\n", kCostHeads);
  for (const int ranks : {2, 4, 8, 16}) {
    const Topology topology{.worker_count = ranks / chapter.devices,
                            .devices_per_worker = chapter.devices};
    table += fmt::format("| {} | {} |\n", ranks,
                         cost_cells(build_schedule(chapter.name, {.topology = topology})));
  }
  return table;
}

/// "direct//ring" is direct__ring, so that names stay different.
std::string file_name(std::string name) {
  for (char& letter : name)
    if (letter == '/') letter = '_';
  return name;
}

void add_chapter(const Chapter& chapter, std::string& text, std::vector<Piece>& pieces) {
  const Topology topology{.worker_count = 4 / chapter.devices,
                          .devices_per_worker = chapter.devices};
  const std::string picture =
      fmt::format("pictures/algorithms/{}.svg", file_name(std::string(chapter.name)));
  pieces.push_back({picture, to_svg(build_schedule(chapter.name, {.topology = topology}))});
  text += fmt::format("\n## {}\n\n{}\n", chapter.name, chapter.description);
  if (!chapter.spec_names.empty())
    text += fmt::format("\nIn an all_reduce_spec: {}.\n", chapter.spec_names);
  text += fmt::format("\n![{}, all-reduce of 4 ranks]({})\n\n{}", chapter.name, picture,
                      cost_table(chapter));
  if (!chapter.paper.empty()) text += fmt::format("\nPaper: {}.\n", chapter.paper);
}

std::string goal_table() {
  std::string table = fmt::format(
      "| goal | who has and wants what | how it follows | {} |\n"
      "| --- | --- | --- | ---: | ---: | ---: |\n",
      kCostHeads);
  for (const Goal goal : all_goals()) {
    const GoalProse prose = prose_of(goal);
    table += fmt::format(
        "| {} | {} | {} | {} |\n", name(goal), prose.meaning, prose.derivation,
        cost_cells(build_schedule("ring", {.topology = {.worker_count = 4}, .goal = goal})));
  }
  return table;
}

std::string shard_table() {
  std::string table = fmt::format("| shards | {} |\n| ---: | ---: | ---: | ---: |\n", kCostHeads);
  for (const int shards : {1, 2, 4})
    table += fmt::format("| {} | {} |\n", shards,
                         cost_cells(build_schedule("one_device", {.topology = {.worker_count = 4},
                                                                  .shard_count = shards})));
  return table;
}

/// With one device to a worker, relay is the ring.
int devices_for(std::string_view algorithm) { return algorithm == "relay" ? 2 : 1; }

std::vector<Piece> make_pieces() {
  std::vector<Piece> pieces;
  std::string text(kIntroduction);
  for (const Algorithm& each : algorithms())
    add_chapter({each.name, each.spec_names, each.description, each.paper, devices_for(each.name)},
                text, pieces);
  text += kTwoLevels;
  add_chapter({"direct/ring", "", kByLeader, "", 2}, text, pieces);
  add_chapter({"direct//ring", "", kBySlices, "", 2}, text, pieces);
  text += fmt::format("{}{}{}{}", kShards, shard_table(), kGoals, goal_table());
  pieces.push_back({"algorithms.md", std::move(text)});
  return pieces;
}

}  // namespace

void write_document(const fs::path& folder) {
  require(fs::is_directory(folder), ErrorKind::kBadFile,
          "\"{}\" is not a folder; --docs needs one that is there", folder.string());
  const fs::path pictures = folder / "pictures" / "algorithms";
  std::error_code error;
  fs::create_directories(pictures, error);
  require(!error, ErrorKind::kBadFile, "the folder \"{}\" cannot be made: {}", pictures.string(),
          error.message());
  std::list<WholeFile> files;  // nothing is moved to its place before all is written
  for (const Piece& piece : make_pieces())
    files.emplace_back(folder / piece.path).write(std::as_bytes(std::span(piece.content)), 0);
  for (WholeFile& file : files) file.commit();
}

}  // namespace fanin::cli
