#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/bytes_text.h"
#include "fanin/reduction_plan.h"

namespace fanin {
namespace {

/// "conv1/kernel", or with a range if it is only a part.
std::string piece_text(const ReductionPlan& plan, const Pack::Piece& piece) {
  const TensorInfo& tensor = plan.request.tensors[piece.tensor];
  if (piece.count == tensor.shape.element_count()) return tensor.name;
  return fmt::format("{}[{}:{}]", tensor.name, piece.begin, piece.begin + piece.count);
}

std::string members_text(const ReductionPlan& plan, const Pack& pack) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, pack.pieces.size()); ++i)
    text += (i == 0 ? "" : ", ") + piece_text(plan, pack.pieces[i]);
  if (pack.pieces.size() > kMost) text += fmt::format(" and {} more", pack.pieces.size() - kMost);
  return text;
}

}  // namespace

std::string to_text(const ReductionPlan& plan) {
  const ReductionRequest& request = plan.request;
  std::size_t bytes = 0;
  for (const TensorInfo& tensor : request.tensors) bytes += tensor.byte_count();
  std::string text = fmt::format(
      "{} of {} tensors ({}) among {} workers with {} devices each: {} packs\n\n", name(request.op),
      request.tensors.size(), bytes_text(bytes), request.topology.worker_count,
      request.topology.devices_per_worker, plan.packs.size());
  text += fmt::format("{:>4} {:>10} {:<9} {:<20} {:>6} {:>11}  {}\n", "pack", "size", "dtype",
                      "algorithm", "rounds", "most sent", "tensors");
  for (std::size_t i = 0; i < plan.packs.size(); ++i) {
    const PlannedPack& each = plan.packs[i];
    text += fmt::format("{:>4} {:>10} {:<9} {:<20} {:>6} {:>11}  {}\n", i,
                        bytes_text(each.pack.byte_count()), name(each.pack.dtype), each.algorithm,
                        each.round_count, bytes_text(each.most_sent_bytes),
                        members_text(plan, each.pack));
  }
  for (const std::string& warning : plan.warnings) text += fmt::format("warning: {}\n", warning);
  for (const std::string& note : plan.notes) text += fmt::format("note: {}\n", note);
  return text;
}

std::string to_json(const ReductionPlan& plan) {
  using Json = nlohmann::ordered_json;
  const ReductionRequest& request = plan.request;
  Json tensors = Json::array();
  for (const TensorInfo& tensor : request.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"dtype", name(tensor.dtype)},
                       {"shape", tensor.shape.dims()},
                       {"bytes", tensor.byte_count()}});
  Json packs = Json::array();
  for (const PlannedPack& each : plan.packs) {
    Json pieces = Json::array();
    for (const Pack::Piece& piece : each.pack.pieces)
      pieces.push_back({{"tensor", piece.tensor}, {"begin", piece.begin}, {"count", piece.count}});
    packs.push_back({{"dtype", name(each.pack.dtype)},
                     {"bytes", each.pack.byte_count()},
                     {"choice", each.is_sparse ? Json() : Json(each.choice)},
                     {"algorithm", each.algorithm},
                     {"shards", each.is_sparse ? 1 : request.choices[each.choice].shard_count},
                     {"reason", each.reason},
                     {"rounds", each.round_count},
                     {"most_sent_bytes", each.most_sent_bytes},
                     {"most_received_bytes", each.most_received_bytes},
                     {"gathered_at", each.gathered_at},
                     {"pieces", pieces}});
  }
  const Json json = {{"op", name(request.op)},
                     {"workers", request.topology.worker_count},
                     {"devices_per_worker", request.topology.devices_per_worker},
                     {"tensors", tensors},
                     {"packs", packs},
                     {"warnings", plan.warnings},
                     {"notes", plan.notes}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace fanin
