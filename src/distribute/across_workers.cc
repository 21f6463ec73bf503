#include "distribute/across_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/require.h"
#include "distribute/bound_call.h"
#include "distribute/dense_component.h"
#include "distribute/divided.h"
#include "distribute/sparse_gather.h"
#include "engines/host_ranks.h"
#include "fanin/add_n.h"
#include "fanin/context.h"
#include "kernels/fold.h"

namespace fanin {
namespace {

std::size_t bytes_of(const Shape& shape, DType dtype) {
  return shape.element_count() * size_of(dtype);
}

Buffer allocate_here(std::size_t bytes) { return Context::process().buffers().allocate(bytes); }

/// One pass over the sources to one new tensor of these cells.
Tensor fold_to(Buffer buffer, const Arithmetic& arithmetic, std::span<const Operand> sources,
               Cell cell, DType dtype, const Shape& shape) {
  std::byte* const target = buffer.bytes().data();
  fold(arithmetic, {.sources = sources,
                    .group_sizes = add_n_groups(sources.size()),
                    .targets = {&target, 1},
                    .target_cell = cell,
                    .count = shape.element_count()});
  return {std::move(buffer), dtype, shape};
}

/// For the calls of a sum that only move data.
MoveOptions how_to_move(const AllReduceOptions& options) {
  return {.step = options.step,
          .timeout = options.timeout,
          .in_background = options.in_background,
          .epoch = options.epoch,
          .label = options.label};
}

/// Mean of 64-bit integers, whose partial sums fit no dtype: the workers' terms are gathered.
Tensor reduce_gathered(Group& group, ReduceOp op, const PerReplica& value,
                       const AllReduceOptions& options) {
  std::vector<Tensor> gathered;  // kept until they are summed
  std::vector<Operand> sources;
  for (std::size_t i = 0; i < value.values().size(); ++i) {
    const Tensor& mine = dense(value, i);
    const auto count = static_cast<std::int64_t>(mine.element_count());
    const Tensor all = group.all_gather(mine.reshaped(Shape{1, count}), how_to_move(options));
    for (int rank = 0; rank < group.size(); ++rank)
      sources.push_back({all.bytes().data() + static_cast<std::size_t>(rank) * mine.bytes().size(),
                         Cell::kInput});
    gathered.push_back(all);
  }
  const Tensor& first = dense(value, 0);
  const Arithmetic arithmetic = make_arithmetic(op, first.dtype(), Accumulation::kWide,
                                                static_cast<std::int64_t>(sources.size()));
  return fold_to(allocate_here(bytes_of(first.shape(), arithmetic.result)), arithmetic, sources,
                 Cell::kResult, arithmetic.result, first.shape());
}

}  // namespace

int host_count(const Group& group) { return static_cast<int>(ranks_by_host(group.hosts()).size()); }

std::string describe_travel(const Group& group) {
  if (group.transport() != "mpi") return describe_ways(group.size());
  const int hosts = host_count(group);
  return fmt::format("{} workers on {} host{}: the steps of the algorithm travel as messages",
                     group.size(), hosts, hosts == 1 ? "" : "s");
}

std::string pack_label(std::ptrdiff_t index, std::size_t count) {
  return fmt::format("pack {} of {}", index + 1, count);
}

std::string algorithm_between_workers(const std::string& algorithm) {
  return algorithm.substr(algorithm.rfind('/') + 1);
}

std::optional<DType> travelling_dtype(const Arithmetic& arithmetic) {
  switch (arithmetic.partial) {
    case PartialType::kFloat32:
      return DType::kFloat32;
    case PartialType::kFloat64:
      return DType::kFloat64;
    case PartialType::kInt8:
      return DType::kInt8;
    case PartialType::kInt16:
      return DType::kInt16;
    case PartialType::kInt32:
      return DType::kInt32;
    case PartialType::kInt64:
      return DType::kInt64;
    case PartialType::kUInt8:
      return DType::kUInt8;
    case PartialType::kUInt16:
      return DType::kUInt16;
    case PartialType::kUInt32:
      return DType::kUInt32;
    case PartialType::kUInt64:
      return DType::kUInt64;
    case PartialType::kInt128:
      return std::nullopt;
  }
  return std::nullopt;
}

std::size_t byte_count(std::span<const PerReplica* const> values) {
  std::size_t bytes = 0;
  for (const PerReplica* value : values) bytes += dense(*value, 0).bytes().size();
  return bytes;
}

void check_worker_devices(const PerReplica& value, std::span<const Device> devices) {
  const std::vector<Device> found = value.devices();
  require(found.size() == devices.size() && same_devices(found, devices), ErrorKind::kBadDevice,
          "a value has {} components, the first on {}, but this worker's devices are {}, the first "
          "{}; give one for each",
          found.size(), to_string(found.front()), devices.size(), to_string(devices.front()));
}

std::vector<Tensor> reduce_across(Group& group, ReduceOp op,
                                  std::span<const PerReplica* const> values, const Packing& packing,
                                  const HowToTravel& how) {
  const std::size_t local_count = values.front()->values().size();
  const auto replica_count =
      static_cast<std::int64_t>(local_count * static_cast<std::size_t>(group.size()));
  // With one replica the group does it all; with several, it adds what each worker has added.
  const bool is_alone = local_count == 1;
  std::vector<Tensor> sums(values.size());
  std::vector<Tensor> inputs(values.size());
  std::vector<TensorInfo> infos;
  std::vector<std::size_t> positions;  // of those that travel
  std::vector<Arithmetic> arithmetics;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Tensor& first = dense(*values[i], 0);
    const Arithmetic arithmetic =
        make_arithmetic(op, first.dtype(), Accumulation::kWide, replica_count);
    arithmetics.push_back(arithmetic);
    const std::optional<DType> partial = travelling_dtype(arithmetic);
    if (is_alone) {
      inputs[i] = first;
    } else if (partial) {
      std::vector<Operand> sources;
      for (std::size_t replica = 0; replica < local_count; ++replica)
        sources.push_back({dense(*values[i], replica).bytes().data(), Cell::kInput});
      inputs[i] = fold_to(group.allocate(bytes_of(first.shape(), *partial)), arithmetic, sources,
                          Cell::kPartial, *partial, first.shape());
    } else {
      sums[i] = reduce_gathered(group, op, *values[i], how(bytes_of(first.shape(), first.dtype())));
      continue;
    }
    positions.push_back(i);
    infos.push_back({fmt::format("value {}", i), inputs[i].dtype(), inputs[i].shape()});
  }

  const ReduceOp travelling_op = !is_alone && op == ReduceOp::kMean ? ReduceOp::kSum : op;
  std::vector<Buffer> buffers;
  std::vector<DType> dtypes;
  for (const std::size_t position : positions) {
    dtypes.push_back(result_dtype(travelling_op, inputs[position].dtype()));
    // Where all ranks see it: with inputs of that kind nothing is copied on the way.
    buffers.push_back(group.allocate(bytes_of(inputs[position].shape(), dtypes.back())));
  }
  const std::vector<Pack> packs = make_packs(infos, packing);
  for (const Pack& pack : packs) {
    std::vector<Tensor> pieces;
    std::vector<TensorView> outputs;
    for (const Pack::Piece& piece : pack.pieces) {
      const Shape shape{static_cast<std::int64_t>(piece.count)};
      const std::size_t in = size_of(pack.dtype);
      const std::size_t out = size_of(dtypes[piece.tensor]);
      const Tensor& input = inputs[positions[piece.tensor]];
      const bool is_whole = piece.count == input.element_count();
      pieces.push_back(Tensor::view(input.bytes().subspan(piece.begin * in, piece.count * in),
                                    pack.dtype, is_whole ? input.shape() : shape));
      outputs.push_back(
          {buffers[piece.tensor].bytes().subspan(piece.begin * out, piece.count * out),
           dtypes[piece.tensor], pieces.back().shape()});
    }
    AllReduceOptions options = how(pack.byte_count());
    options.op = travelling_op;
    if (options.label.empty()) options.label = pack_label(&pack - packs.data(), packs.size());
    group.all_reduce(pieces, outputs, options);
  }
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::size_t position = positions[i];
    Tensor sum(std::move(buffers[i]), dtypes[i], inputs[position].shape());
    if (is_alone) {
      sums[position] = std::move(sum);
      continue;
    }
    const Operand source{sum.bytes().data(), Cell::kPartial};
    const DType result = arithmetics[position].result;
    sums[position] = fold_to(allocate_here(bytes_of(sum.shape(), result)), arithmetics[position],
                             {&source, 1}, Cell::kResult, result, sum.shape());
  }
  return sums;
}

Value reduce_sparse_across(Group& group, ReduceOp op, const PerReplica& value,
                           const HowToTravel& how) {
  const std::size_t replica_count = value.values().size() * static_cast<std::size_t>(group.size());
  // Several replicas of one worker are joined first; where one of them is dense, so is the sum.
  const std::vector<std::optional<Value>> terms(value.values().begin(), value.values().end());
  const Value local = *add_n(terms);
  if (const auto* sum = std::get_if<Tensor>(&local)) {
    Tensor total = group.all_reduce(*sum, how(sum->bytes().size()));
    return op == ReduceOp::kMean ? divided(total, replica_count) : total;
  }
  const auto& mine = std::get<IndexedSlices>(local);
  IndexedSlices all = gather_slices(group, mine, how_to_move(how(mine.values.bytes().size())));
  if (op == ReduceOp::kMean) all.values = divided(all.values, replica_count);
  return all;
}

}  // namespace fanin
