#include "distribute/group_state.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

#include "core/require.h"
#include "distribute/host_levels.h"
#include "distribute/shrink.h"
#include "fanin/context.h"
#include "transports/epoch.h"

namespace fanin {
namespace {

// Calls that are kept bound on each lane for the next ones like them.
constexpr std::size_t kMostCalls = 512;

constexpr std::string_view kMoveAlgorithm = kAutomatic;

std::unique_ptr<Transport> open_second_lane(Transport& transport) {
  std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return transport.open(1, 0, ranks);
}

void check_output(const Tensor& input, const TensorView& out, DType dtype) {
  if (out.dtype != dtype)
    throw InvalidArgument(ErrorKind::kDtypeMismatch,
                          fmt::format("the output of the all-reduce is {}, but its result is {}",
                                      name(out.dtype), name(dtype)));
  if (out.shape != input.shape())
    throw InvalidArgument(
        ErrorKind::kShapeMismatch,
        fmt::format("the output of the all-reduce has shape {}, but the input has {}",
                    to_string(out.shape), to_string(input.shape())));
  if (out.bytes.size() != out.shape.element_count() * size_of(dtype))
    throw InvalidArgument(
        ErrorKind::kShapeMismatch,
        fmt::format("the output of shape {} has {} bytes instead of {}", to_string(out.shape),
                    out.bytes.size(), out.shape.element_count() * size_of(dtype)));
}

/// Same memory is fine where cells have the same size; anything else would be read after it was
/// written.
void check_overlap(const Tensor& input, const TensorView& out) {
  const std::span<const std::byte> in = input.bytes();
  const bool apart = std::less_equal<>{}(in.data() + in.size(), out.bytes.data()) ||
                     std::less_equal<>{}(out.bytes.data() + out.bytes.size(), in.data());
  const bool same = in.data() == out.bytes.data() && in.size() == out.bytes.size();
  require(apart || same, ErrorKind::kBadOption,
          "the output of the all-reduce overlaps its input; use the same memory or other memory");
}

void check_timeout(const std::optional<std::chrono::duration<double>>& timeout) {
  if (timeout)
    require(timeout->count() > 0, ErrorKind::kBadOption, "a timeout must be above 0 s, got {} s",
            timeout->count());
}

void check_options(const AllReduceOptions& options) {
  check(options.op);
  check(options.accumulation);
  check_timeout(options.timeout);
  require(options.accumulation != Accumulation::kExact, ErrorKind::kBadOption,
          "accumulation exact is not for an all-reduce, whose partial sums travel rounded; use "
          "wide or native");
}

/// Whether a request that was bound is what is asked for, without making a new one.
bool is_for(const Request& request, std::span<const Tensor> inputs,
            const AllReduceOptions& options) {
  return request.operation == Request::Operation::kAllReduce && request.op == options.op &&
         request.accumulation == options.accumulation && request.algorithm == options.algorithm &&
         std::ranges::equal(inputs, request.items, [](const Tensor& tensor, const auto& item) {
           return tensor.dtype() == item.dtype && tensor.shape() == item.shape;
         });
}

}  // namespace

Group::State::State(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout)
    : timeout_(timeout),
      commons_(std::make_shared<GroupCommons>()),
      lanes_{Bench{Lane(nullptr)}, Bench{Lane(open_second_lane(*transport))}} {
  lanes_.front().lane = Lane(std::move(transport));
  if (!this->transport().registered(0).empty())
    commons_->registered = std::make_shared<RegisteredPool>(this->transport());
}

Group::State::State(std::array<std::unique_ptr<Transport>, Lane::kCount> transports,
                    std::chrono::duration<double> timeout, std::shared_ptr<GroupCommons> commons)
    : timeout_(timeout),
      commons_(std::move(commons)),
      lanes_{Bench{Lane(std::move(transports[0]))}, Bench{Lane(std::move(transports[1]))}} {}

Buffer Group::State::allocate(std::size_t bytes) {
  if (commons_->registered) return commons_->registered->allocate(bytes);
  return Context::process().buffers().allocate(bytes);
}

Ticket Group::State::next_ticket() {
  if (const std::uint64_t now = transport().epoch(); now != epoch_) {
    epoch_ = now;
    operation_count_ = 0;
  }
  return {epoch_, ++operation_count_};
}

Group::State::Bench& Group::State::bench_of(const Ticket& ticket) {
  return lanes_[ticket.number % lanes_.size()];
}

Group::State::Bench& Group::State::take_bench(const Ticket& ticket) {
  if (has_handles_) progress_.wait_for_lane(static_cast<int>(ticket.number % lanes_.size()));
  return bench_of(ticket);
}

BoundCall& Group::State::bind(Bench& bench, Request request, BoundCall::Extents extents) {
  auto& calls = bench.calls;
  for (auto call = calls.begin(); call != calls.end(); ++call)
    if (call->request() == request && call->extents() == extents) {
      calls.splice(calls.begin(), calls, call);
      return calls.front();
    }
  calls.emplace_front(std::move(request), std::move(extents), bench.lane, commons_->book,
                      Context::process());
  if (calls.size() > kMostCalls) calls.pop_back();
  return calls.front();
}

Call Group::State::make_call(const Ticket& ticket, const Timeout& timeout, std::string text) const {
  return {.epoch = ticket.epoch,
          .timeout = timeout.value_or(timeout_),
          .describe = [text = std::move(text), ticket] {
            return fmt::format("{} (operation {}{})", text, ticket.number,
                               ticket.epoch == 0 ? "" : fmt::format(" of epoch {}", ticket.epoch));
          }};
}

template <typename Check>
auto Group::State::check_or_refuse(Bench& bench, const Ticket& ticket, Check&& check) {
  try {
    return check();
  } catch (const InvalidArgument& error) {
    refuse(bench, ticket, error.what());
    throw;
  }
}

void Group::State::refuse(Bench& bench, const Ticket& ticket, std::string_view sentence) {
  Call call = make_call(ticket, std::nullopt, "telling that arguments were refused");
  end_epoch_if_thrown(bench.lane, ticket,
                      [&] { bench.lane.refuse(ticket, refusal_note(sentence), call); });
}

void Group::State::refuse(std::string_view sentence) {
  const Ticket ticket = next_ticket();
  refuse(take_bench(ticket), ticket, sentence);
}

template <typename Work>
void Group::State::end_epoch_if_thrown(Lane& lane, const Ticket& ticket, Work&& work) {
  try {
    work();
  } catch (const InvalidArgument&) {
    throw;  // all ranks have seen the same
  } catch (const Error& error) {
    lane.transport().end_epoch(ticket.epoch, {lane.transport().rank(), error.kind(), error.what()});
    throw;
  } catch (const std::exception& error) {
    lane.transport().end_epoch(ticket.epoch,
                               {lane.transport().rank(), ErrorKind::kSystem, error.what()});
    throw;
  }
}

void Group::State::meet(Lane& lane, const Ticket& ticket, const Request& request,
                        const Lane::Entry& entry, Call& call) {
  lane.begin(ticket, call);
  if (!lane.enter(ticket, entry, call))
    lane.compare(ticket, to_note(request, std::nullopt, lane.note(0, ticket).size() / 2), call);
}

BoundCall& Group::State::prepare(Bench& bench, std::span<const Tensor> inputs,
                                 std::span<const TensorView> outputs,
                                 const AllReduceOptions& options) {
  require(!inputs.empty(), ErrorKind::kEmpty, "an all-reduce needs at least one tensor");
  require(inputs.size() == outputs.size(), ErrorKind::kBadOption,
          "{} outputs were given for {} inputs; give one for each", outputs.size(), inputs.size());
  check_options(options);
  if (bench.calls.empty() || !is_for(bench.calls.front().request(), inputs, options)) {
    Request request{.operation = Request::Operation::kAllReduce,
                    .op = options.op,
                    .accumulation = options.accumulation,
                    .algorithm = options.algorithm};
    check_algorithm(options.algorithm);
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
    check_output(inputs[i], outputs[i], result);
    check_overlap(inputs[i], outputs[i]);
    bench.inputs.push_back(inputs[i].bytes().data());
    bench.outputs.push_back(outputs[i].bytes.data());
  }
  return bound;
}

void Group::State::run(Bench& bench, const Ticket& ticket, BoundCall& bound,
                       std::optional<std::int64_t> step, const Timeout& timeout) {
  Call call{.epoch = ticket.epoch, .timeout = timeout.value_or(timeout_)};
  const auto text = [&] {
    return make_call(ticket, std::nullopt, describe(bound.request())).describe();
  };
  call.describe = std::cref(text);
  try {
    end_epoch_if_thrown(bench.lane, ticket, [&] {
      bound.run(bench.lane, ticket, step, bench.inputs, bench.outputs, call);
    });
  } catch (const InvalidArgument&) {
    throw;  // nobody has begun
  } catch (const std::exception&) {
    bound.give_up(bench.lane, bench.outputs);
    throw;
  }
}

void Group::State::all_reduce(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
                              const AllReduceOptions& options) {
  const Ticket ticket = next_ticket();
  Bench& bench = take_bench(ticket);
  BoundCall& bound =
      *check_or_refuse(bench, ticket, [&] { return &prepare(bench, inputs, outputs, options); });
  run(bench, ticket, bound, options.step, options.timeout);
}

Handle Group::State::start_all_reduce(std::span<const Tensor> inputs,
                                      std::span<const TensorView> outputs,
                                      const AllReduceOptions& options) {
  has_handles_ = true;
  const Ticket ticket = next_ticket();
  // Bound when its turn comes: the lane may be in use.
  return progress_.submit(static_cast<int>(ticket.number % lanes_.size()),
                          [this, ticket, options, ins = std::vector(inputs.begin(), inputs.end()),
                           outs = std::vector(outputs.begin(), outputs.end())] {
                            Bench& bench = bench_of(ticket);
                            BoundCall& bound = *check_or_refuse(
                                bench, ticket, [&] { return &prepare(bench, ins, outs, options); });
                            run(bench, ticket, bound, options.step, options.timeout);
                          });
}

void Group::State::run_window_call(const Ticket& ticket, Request request, const std::byte* input,
                                   std::byte* output, const Timeout& timeout,
                                   std::optional<std::int64_t> step) {
  Bench& bench = take_bench(ticket);
  BoundCall& bound =
      *check_or_refuse(bench, ticket, [&] { return &bind(bench, std::move(request)); });
  bench.inputs.assign(1, input);
  bench.outputs.assign(1, output);
  run(bench, ticket, bound, step, timeout);
}

void Group::State::reduce(const Tensor& input, const TensorView& out, int root,
                          const AllReduceOptions& options) {
  const Ticket ticket = next_ticket();
  Bench& bench = take_bench(ticket);
  check_or_refuse(bench, ticket, [&] {
    check_options(options);
    require(root >= 0 && root < transport().size(), ErrorKind::kBadOption,
            "rank {} does not exist in a group of {}; ranks count from 0", root,
            transport().size());
    check_algorithm(options.algorithm);
    if (transport().rank() == root) {
      check_output(input, out, result_dtype(options.op, input.dtype()));
      check_overlap(input, out);
    }
  });
  run_window_call(ticket,
                  {.operation = Request::Operation::kReduce,
                   .op = options.op,
                   .accumulation = options.accumulation,
                   .algorithm = options.algorithm,
                   .root = root,
                   .items = {{input.dtype(), input.shape()}}},
                  input.bytes().data(), out.bytes.data(), options.timeout, options.step);
}

void Group::State::broadcast(const TensorView& inout, int root) {
  const Ticket ticket = next_ticket();
  Bench& bench = take_bench(ticket);
  check_or_refuse(bench, ticket, [&] {
    require(root >= 0 && root < transport().size(), ErrorKind::kBadOption,
            "rank {} does not exist in a group of {}; ranks count from 0", root,
            transport().size());
    if (inout.bytes.size() != inout.shape.element_count() * size_of(inout.dtype))
      throw InvalidArgument(
          ErrorKind::kShapeMismatch,
          fmt::format("a tensor of shape {} has {} bytes instead of {}", to_string(inout.shape),
                      inout.bytes.size(), inout.shape.element_count() * size_of(inout.dtype)));
  });
  run_window_call(ticket,
                  {.operation = Request::Operation::kBroadcast,
                   .algorithm = std::string(kMoveAlgorithm),
                   .root = root,
                   .items = {{inout.dtype, inout.shape}}},
                  inout.bytes.data(), inout.bytes.data(), std::nullopt, std::nullopt);
}

Tensor Group::State::all_gather(const Tensor& input) {
  const Ticket ticket = next_ticket();
  Bench& bench = take_bench(ticket);
  check_or_refuse(bench, ticket, [&] {
    require(input.shape().rank() > 0, ErrorKind::kShapeMismatch,
            "a scalar has no axis along which it could be gathered; give it the shape [1]");
  });
  const auto dims = input.shape().dims();
  Request request{
      .operation = Request::Operation::kAllGather,
      .algorithm = std::string(kMoveAlgorithm),
      .items = {{input.dtype(), Shape(std::vector<std::int64_t>(dims.begin() + 1, dims.end()))}}};
  Call call = make_call(ticket, std::nullopt, describe(request));
  Tensor result;
  end_epoch_if_thrown(bench.lane, ticket, [&] {
    Lane::Entry entry{.fingerprint = fingerprint_of(request), .words = {}};
    entry.words[0] = static_cast<std::uint64_t>(dims.front());
    meet(bench.lane, ticket, request, entry, call);
    BoundCall::Extents extents;
    for (int rank = 0; rank < transport().size(); ++rank)
      extents.push_back(rank == transport().rank() ? entry.words[0]
                                                   : bench.lane.word(rank, ticket, 0));
    std::vector<std::int64_t> all(dims.begin(), dims.end());
    all.front() = static_cast<std::int64_t>(
        std::accumulate(extents.begin(), extents.end(), std::uint64_t{0}));
    const Shape shape(std::move(all));
    Buffer buffer =
        Context::process().buffers().allocate(shape.element_count() * size_of(input.dtype()));
    const std::byte* const from = input.bytes().data();
    std::byte* const to = buffer.bytes().data();
    bind(bench, std::move(request), std::move(extents))
        .run_entered(bench.lane, {&from, 1}, {&to, 1}, call);
    result = Tensor(std::move(buffer), input.dtype(), shape, input.device());
  });
  return result;
}

void Group::State::barrier() {
  const Ticket ticket = next_ticket();
  Bench& bench = take_bench(ticket);
  const Request request;
  Call call = make_call(ticket, std::nullopt, describe(request));
  end_epoch_if_thrown(bench.lane, ticket, [&] {
    meet(bench.lane, ticket, request, {.fingerprint = fingerprint_of(request), .words = {}}, call);
  });
}

std::optional<Group> Group::State::subgroup(std::span<const int> ranks) {
  const Ticket ticket = next_ticket();
  Bench& bench = take_bench(ticket);
  check_or_refuse(bench, ticket, [&] { check_ranks(ranks, transport().size()); });
  const Request request{.operation = Request::Operation::kSubgroup,
                        .ranks = std::vector<int>(ranks.begin(), ranks.end())};
  Call call = make_call(ticket, std::nullopt, describe(request));
  std::optional<Group> group;
  end_epoch_if_thrown(bench.lane, ticket, [&] {
    Lane::Entry entry{.fingerprint = fingerprint_of(request), .words = {}};
    entry.words[0] = transport().used_channels();
    meet(bench.lane, ticket, request, entry, call);
    std::uint64_t used = entry.words[0];
    for (int rank = 0; rank < transport().size(); ++rank)
      if (rank != transport().rank()) used |= bench.lane.word(rank, ticket, 0);
    const int channel = find_free_channel(used);
    const bool is_member = std::ranges::find(ranks, transport().rank()) != ranks.end();
    if (is_member) group = open(channel, ranks);
    // What an earlier group has left on the channel counts as of an earlier epoch.
    if (transport().rank() == ranks.front())
      group->state_->transport().begin_epoch(group->state_->transport().epoch() + 1);
  });
  barrier();  // all have opened it
  return group;
}

Group Group::State::open(int channel, std::span<const int> ranks) {
  return Group(std::make_unique<State>(std::array{transport().open(channel, channel, ranks),
                                                  transport().open(channel + 1, channel, ranks)},
                                       timeout_, commons_));
}

Group Group::State::shrink() {
  for (int lane = 0; lane < Lane::kCount; ++lane)
    if (has_handles_) progress_.wait_for_lane(lane);
  const Survivors survivors = find_survivors(transport(), ++shrink_count_, timeout_);
  Group group = open(survivors.channel, survivors.ranks);
  group.state_->transport().begin_epoch(survivors.first_epoch);
  meet_survivors(transport(), shrink_count_, survivors, timeout_);
  return group;
}

}  // namespace fanin
