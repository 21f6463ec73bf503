// The collectives of a group.

#include <algorithm>

#include "core/require.h"
#include "distribute/group_state.h"
#include "fanin/algorithms.h"
#include "fanin/context.h"
#include "transports/epoch.h"

namespace fanin {
namespace {

/// Whether a request that was bound is what is asked for, without making a new one.
bool is_for(const Request& request, std::span<const Tensor> inputs, const AllReduceOptions& options,
            const std::string& algorithm) {
  return request.operation == Request::Operation::kAllReduce && request.op == options.op &&
         request.accumulation == options.accumulation && request.algorithm == algorithm &&
         request.priority == options.priority &&
         std::ranges::equal(inputs, request.items, [](const Tensor& tensor, const auto& item) {
           return tensor.dtype() == item.dtype && tensor.shape() == item.shape;
         });
}

}  // namespace

BoundCall& Group::State::prepare(Bench& bench, std::span<const Tensor> inputs,
                                 std::span<const TensorView> outputs,
                                 const AllReduceOptions& options) {
  require(!inputs.empty(), ErrorKind::kEmpty, "an all-reduce needs at least one tensor");
  require(inputs.size() == outputs.size(), ErrorKind::kBadOption,
          "{} outputs were given for {} inputs; give one for each", outputs.size(), inputs.size());
  check_timeout(options.timeout);
  require(options.extents.empty(), ErrorKind::kBadOption,
          "all_reduce has no parts for which extents could be given; leave them out");
  const std::string& algorithm = resolve(options.algorithm, inputs);
  if (bench.calls.empty() || !is_for(bench.calls.front().request(), inputs, options, algorithm)) {
    // What was bound before has been checked then.
    check_options(Request::Operation::kAllReduce, options);
    Request request{.operation = Request::Operation::kAllReduce,
                    .op = options.op,
                    .accumulation = options.accumulation,
                    .algorithm = algorithm,
                    .priority = options.priority};
    canonical_algorithm(algorithm);
    for (const Tensor& input : inputs) {
      require(input.dtype() == inputs.front().dtype(), ErrorKind::kDtypeMismatch,
              "the tensors of one all-reduce are {} and {}; give those of one dtype",
              name(inputs.front().dtype()), name(input.dtype()));
      request.items.push_back({input.dtype(), input.shape()});
    }
    bind(bench, std::move(request));
  }
  BoundCall& bound = bench.calls.front();
  const DType result = bound.arithmetic().result;
  bench.inputs.clear();
  bench.outputs.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::span<const std::byte> in = inputs[i].bytes();
    const std::span<std::byte> out = outputs[i].bytes;
    check_output(Request::Operation::kAllReduce, outputs[i], result, inputs[i].shape());
    const bool is_in_place = in.data() == out.data() && in.size() == out.size();
    if (!is_in_place) check_apart(Request::Operation::kAllReduce, in, out);
    bench.inputs.push_back(in.data());
    bench.outputs.push_back(out.data());
  }
  return bound;
}

Request Group::State::request_of(const Arguments& arguments) {
  Request request = to_request(arguments, transport().rank(), transport().size());
  request.algorithm = resolve(request.algorithm);
  return request;
}

BoundCall& Group::State::prepare(Bench& bench, const Arguments& arguments) {
  BoundCall& bound = bind(bench, request_of(arguments));
  std::byte* const out = arguments.out->bytes.data();
  const bool is_both = arguments.operation == Request::Operation::kBroadcast;
  bench.inputs.assign(1, is_both ? out : arguments.input.bytes().data());
  bench.outputs.assign(1, out);
  return bound;
}

template <typename Prepare>
void Group::State::perform(Bench& bench, const Ticket& ticket, const AllReduceOptions& options,
                           Precedence::Place& place, bool is_alone, Prepare&& prepare) {
  BoundCall& bound = *check_or_refuse(bench, ticket, [&] { return &prepare(bench); });
  run(bench, ticket, bound, options, place, is_alone);
}

template <typename Prepare>
void Group::State::perform_now(const AllReduceOptions& options, Prepare&& prepare) {
  const Ticket ticket = next_ticket(options.epoch);
  Precedence::Place place(precedence_, options.priority);
  // Without handles one operation ends before the next begins.
  perform(take_bench(ticket), ticket, options, place, !has_handles_, prepare);
}

template <typename Prepare>
Handle Group::State::submit(AllReduceOptions options, Prepare prepare) {
  transport().require_threads();
  has_handles_ = true;
  options.in_background = true;
  const Ticket ticket = next_ticket(options.epoch);
  // It has its place at once; it is bound when its turn comes, since the lane may be in use.
  auto place = std::make_shared<Precedence::Place>(precedence_, options.priority);
  return progress_.submit(
      {static_cast<int>(ticket.number % lanes_.size()), options.priority},
      [this, ticket, options, place = std::move(place), prepare = std::move(prepare)] {
        perform(bench_of(ticket), ticket, options, *place, false, prepare);
      });
}

void Group::State::all_reduce(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
                              const AllReduceOptions& options) {
  perform_now(options,
              [&](Bench& bench) -> BoundCall& { return prepare(bench, inputs, outputs, options); });
}

Handle Group::State::start_all_reduce(std::span<const Tensor> inputs,
                                      std::span<const TensorView> outputs,
                                      const AllReduceOptions& options) {
  return submit(options,
                [this, options, ins = std::vector(inputs.begin(), inputs.end()),
                 outs = std::vector(outputs.begin(), outputs.end())](Bench& bench) -> BoundCall& {
                  return prepare(bench, ins, outs, options);
                });
}

void Group::State::call(const Arguments& arguments) {
  perform_now(arguments.options,
              [&](Bench& bench) -> BoundCall& { return prepare(bench, arguments); });
}

Handle Group::State::start(Arguments arguments) {
  const AllReduceOptions options = arguments.options;
  return submit(options, [this, arguments = std::move(arguments)](Bench& bench) -> BoundCall& {
    return prepare(bench, arguments);
  });
}

Extents Group::State::find_extents(Lane& lane, const Ticket& ticket, const Request& request,
                                   std::optional<std::int64_t> step,
                                   std::span<const std::int64_t> told, Call& call) {
  meet(lane, ticket, request, step, told, call);
  std::vector<std::int64_t> all;
  for (int rank = 0; rank < transport().size(); ++rank) {
    const std::vector<std::int64_t> theirs = told_by(lane, rank, ticket, told.size());
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  require_epoch(lane.transport(), call);
  return Extents(std::move(all));
}

std::optional<Tensor> Group::State::collect(const Arguments& arguments) {
  const Ticket ticket = next_ticket(arguments.options.epoch);
  Bench& bench = take_bench(ticket);
  const int rank = transport().rank();
  const int size = transport().size();
  const AllReduceOptions& options = arguments.options;
  Precedence::Place place(precedence_, options.priority);
  Request request = check_or_refuse(bench, ticket, [&] { return request_of(arguments); });
  const DType dtype = result_dtype(request.op, arguments.input.dtype());
  const bool wants = wants_result(request, rank, size);
  Shape shape;
  Buffer buffer;
  const auto make_room = [&](const Request& complete) {
    if (wants) {
      shape = result_shape(complete, rank, size);
      buffer = Context::process().buffers().allocate(shape.element_count() * size_of(dtype));
    }
    bench.inputs.assign(1, arguments.input.bytes().data());
    bench.outputs.assign(1, buffer.bytes().data());
  };

  const std::vector<std::int64_t> told = told_extents(arguments);
  if (told.empty()) {
    BoundCall& bound =
        *check_or_refuse(bench, ticket, [&] { return &bind(bench, std::move(request)); });
    end_epoch_if_thrown(bench.lane, ticket, [&] { make_room(bound.request()); });
    run(bench, ticket, bound, options, place, !has_handles_);
  } else {
    Call call = make_call(ticket, options, describe(request));
    call.in_background = options.in_background;
    call.place = &place;
    end_epoch_if_thrown(bench.lane, ticket, [&] {
      set_extents(request, find_extents(bench.lane, ticket, request, options.step, told, call),
                  size);
      BoundCall& bound = bind(bench, std::move(request));
      make_room(bound.request());
      bound.run_entered(bench.lane, bench.inputs, bench.outputs, call);
    });
  }
  if (!wants) return std::nullopt;
  return Tensor(std::move(buffer), dtype, std::move(shape), arguments.input.device());
}

}  // namespace fanin
