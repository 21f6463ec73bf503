// Trials of ranks that do not ask for the same.

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <vector>

#include "cli/trial/trials.h"
#include "fanin/context.h"
#include "fanin/error.h"
#include "transports/shared_memory.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

Tensor filled(std::int64_t count, DType dtype = DType::kFloat32) {
  Buffer buffer =
      Context::process().buffers().allocate(static_cast<std::size_t>(count) * size_of(dtype));
  std::ranges::fill(buffer.bytes(), std::byte{0});
  return {std::move(buffer), dtype, Shape{count}};
}

/// A difference: what the odd rank calls, and what the others do.
struct Difference {
  std::string_view name;
  void (*odd)(Group& group);
  void (*usual)(Group& group);
};

TensorView view(const Tensor& tensor) {
  return {{const_cast<std::byte*>(tensor.bytes().data()), tensor.bytes().size()},
          tensor.dtype(),
          tensor.shape()};
}

void reduce_list(Group& group, std::initializer_list<std::int64_t> counts) {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<TensorView> views;
  for (const std::int64_t count : counts) {
    inputs.push_back(filled(count));
    outputs.push_back(filled(count));
    views.push_back(view(outputs.back()));
  }
  group.all_reduce(inputs, views);
}

/// One rank has a row more than the others.
void reduce_scatter_more(Group& group, int rank) {
  std::vector<std::int64_t> extents(static_cast<std::size_t>(group.size()), 1);
  ++extents[static_cast<std::size_t>(rank)];
  group.reduce_scatter(filled(group.size() + 1), {.extents = extents});
}

constexpr std::array kDifferences = {
    Difference{"shape", [](Group& group) { group.all_reduce(filled(5)); },
               [](Group& group) { group.all_reduce(filled(4)); }},
    Difference{"large shape", [](Group& group) { group.all_reduce(filled(500'000)); },
               [](Group& group) { group.all_reduce(filled(4)); }},
    Difference{"dtype", [](Group& group) { group.all_reduce(filled(4, DType::kInt32)); },
               [](Group& group) { group.all_reduce(filled(4)); }},
    Difference{"op", [](Group& group) { group.all_reduce(filled(4), {.op = ReduceOp::kMax}); },
               [](Group& group) { group.all_reduce(filled(4)); }},
    Difference{
        "accumulation",
        [](Group& group) { group.all_reduce(filled(4), {.accumulation = Accumulation::kNative}); },
        [](Group& group) { group.all_reduce(filled(4)); }},
    Difference{"algorithm",
               [](Group& group) { group.all_reduce(filled(4), {.algorithm = "ring"}); },
               [](Group& group) { group.all_reduce(filled(4)); }},
    Difference{"step", [](Group& group) { group.all_reduce(filled(4), {.step = 6}); },
               [](Group& group) { group.all_reduce(filled(4), {.step = 7}); }},
    Difference{"no step", [](Group& group) { group.all_reduce(filled(4)); },
               [](Group& group) { group.all_reduce(filled(4), {.step = 7}); }},
    Difference{"order", [](Group& group) { group.barrier(); },
               [](Group& group) { group.all_reduce(filled(4)); }},
    Difference{"a tensor of a list",
               [](Group& group) {
                 reduce_list(group, {3, 7});
               },
               [](Group& group) {
                 reduce_list(group, {3, 8});
               }},
    Difference{"number of tensors", [](Group& group) { reduce_list(group, {3}); },
               [](Group& group) {
                 reduce_list(group, {3, 8});
               }},
    Difference{"root", [](Group& group) { group.broadcast(view(filled(4)), 1); },
               [](Group& group) { group.broadcast(view(filled(4)), 0); }},
    Difference{"rows of a gather",
               [](Group& group) {
                 group.all_gather(filled(4).reshaped({2, 2}));
               },
               [](Group& group) {
                 group.all_gather(filled(4).reshaped({4, 1}));
               }},
    Difference{"extents", [](Group& group) { reduce_scatter_more(group, 0); },
               [](Group& group) { reduce_scatter_more(group, 1); }},
    Difference{"list of a subgroup",
               [](Group& group) {
                 group.subgroup(std::array{1, 0});
               },
               [](Group& group) {
                 group.subgroup(std::array{0, 1});
               }},
    Difference{"priority", [](Group& group) { group.all_reduce(filled(4), {.priority = 1}); },
               [](Group& group) { group.all_reduce(filled(4)); }},
    Difference{"refused arguments",
               [](Group& group) { group.all_reduce(filled(4), {.algorithm = "gossip"}); },
               [](Group& group) { group.all_reduce(filled(4)); }},
};

struct Case {
  const Difference* difference;
  int size;
  int odd;
};

std::vector<Case> list(const TrialSize& size) {
  std::vector<Case> cases;
  for (const Difference& difference : kDifferences)
    for (const int rank_count : {2, 3, 4, 5, 8})
      for (int odd = 0; odd < rank_count; ++odd)
        if (!size.is_quick || (rank_count == 3 && odd == 2) || (rank_count == 2 && odd == 0))
          cases.push_back({&difference, rank_count, odd});
  return cases;
}

json work_as_rank(const Case& each, int rank, const std::string& path) {
  Group group(join_shared_memory(path, rank, each.size, kDefaultWindowBytes,
                                 deadline_after(std::chrono::seconds(20))),
              std::chrono::seconds(5));
  int wrong = 0;
  json calls = json::array();
  for (int round = 0; round < 3; ++round) {
    wrong += sums_right(group, 1000, {}) ? 0 : 1;
    calls.push_back(timed_call(
        [&] { (rank == each.odd ? each.difference->odd : each.difference->usual)(group); }));
  }
  wrong += sums_right(group, 1000, {}) ? 0 : 1;
  return {{"calls", calls}, {"wrong", wrong}};
}

}  // namespace

std::size_t count_mismatches(const TrialSize& size) { return list(size).size(); }

void run_mismatches(const TrialSize& size, Figures& figures, Progress& progress) {
  for (const Case& each : list(size)) {
    const std::string what =
        fmt::format("rank {} of {} has another {}", each.odd, each.size, each.difference->name);
    progress.start(what);
    const std::vector<json> reports = run_ranks(
        each.size,
        [&](int rank, const std::string& path) { return work_as_rank(each, rank, path); }, 60,
        figures);
    for (const json& report : reports) {
      if (!report.contains("calls")) {
        ++figures.stuck;
        figures.complaints.push_back(fmt::format("{}: {}", what, report.dump()));
        continue;
      }
      figures.wrong += report.at("wrong").get<int>();
      for (const json& call : report.at("calls")) {
        ++figures.calls;
        figures.in_time += call.at("seconds").get<double>() < 2 ? 1 : 0;
        ++figures.errors;
        // Where rank 0 is the odd one, the other that is named is the first of the others. The odd
        // one whose arguments are refused is told of its own.
        const auto sentence = call.at("sentence").get<std::string>();
        const bool is_named =
            call.at("code") == "INVALID_ARGUMENT" &&
            (sentence.find(fmt::format("rank {}", each.odd)) != std::string::npos ||
             sentence.find("gossip") != std::string::npos);
        figures.named += is_named ? 1 : 0;
        if (!is_named) figures.complaints.push_back(fmt::format("{}: {}", what, sentence));
      }
    }
    progress.add(1);
  }
}

}  // namespace fanin::cli
