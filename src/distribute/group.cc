#include "fanin/group.h"

#include "distribute/arguments.h"
#include "distribute/group_state.h"
#include "fanin/context.h"
#include "transports/transport.h"

namespace fanin {
namespace {

/// Nothing is summed, so it does not matter how.
AllReduceOptions widened(const MoveOptions& options) {
  return {.algorithm = options.algorithm,
          .step = options.step,
          .timeout = options.timeout,
          .extents = options.extents,
          .in_background = options.in_background,
          .priority = options.priority,
          .epoch = options.epoch,
          .label = options.label};
}

}  // namespace

Group::Group(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout)
    : state_(std::make_unique<State>(std::move(transport), timeout)) {}
Group::Group(std::unique_ptr<State> state) : state_(std::move(state)) {}
Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;
Group::~Group() = default;

int Group::rank() const { return state_->transport().rank(); }
int Group::size() const { return state_->transport().size(); }
std::string_view Group::transport() const { return state_->transport().name(); }
bool Group::serves_threads() const { return state_->transport().serves_threads(); }
std::vector<int> Group::hosts() const { return state_->transport().hosts(); }

std::vector<int> Group::cores() const { return state_->transport().cores(); }
std::uint64_t Group::epoch() const {
  state_->transport().listen();
  return state_->transport().epoch();
}

Buffer Group::allocate(std::size_t bytes) { return state_->allocate(bytes); }

void Group::all_reduce(const Tensor& input, const TensorView& out,
                       const AllReduceOptions& options) {
  state_->all_reduce({&input, 1}, {&out, 1}, options);
}

Tensor Group::all_reduce(const Tensor& input, const AllReduceOptions& options) {
  check(options.op);
  const DType dtype = result_dtype(options.op, input.dtype());
  Buffer buffer = Context::process().buffers().allocate(input.element_count() * size_of(dtype));
  all_reduce(input, {buffer.bytes(), dtype, input.shape()}, options);
  return {std::move(buffer), dtype, input.shape(), input.device()};
}

void Group::all_reduce(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
                       const AllReduceOptions& options) {
  state_->all_reduce(inputs, outputs, options);
}

Handle Group::start_all_reduce(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
                               const AllReduceOptions& options) {
  return state_->start_all_reduce(inputs, outputs, options);
}

void Group::reduce(const Tensor& input, const TensorView& out, int root,
                   const AllReduceOptions& options) {
  state_->call({Request::Operation::kReduce, input, out, root, options});
}

Handle Group::start_reduce(const Tensor& input, const TensorView& out, int root,
                           const AllReduceOptions& options) {
  return state_->start({Request::Operation::kReduce, input, out, root, options});
}

void Group::reduce_scatter(const Tensor& input, const TensorView& out,
                           const AllReduceOptions& options) {
  state_->call({Request::Operation::kReduceScatter, input, out, {}, options});
}

Tensor Group::reduce_scatter(const Tensor& input, const AllReduceOptions& options) {
  return state_->collect({Request::Operation::kReduceScatter, input, {}, {}, options}).value();
}

Handle Group::start_reduce_scatter(const Tensor& input, const TensorView& out,
                                   const AllReduceOptions& options) {
  return state_->start({Request::Operation::kReduceScatter, input, out, {}, options});
}

void Group::broadcast(const TensorView& inout, int root, const MoveOptions& options) {
  state_->call({Request::Operation::kBroadcast, {}, inout, root, widened(options)});
}

Handle Group::start_broadcast(const TensorView& inout, int root, const MoveOptions& options) {
  return state_->start({Request::Operation::kBroadcast, {}, inout, root, widened(options)});
}

void Group::all_gather(const Tensor& input, const TensorView& out, const MoveOptions& options) {
  state_->call({Request::Operation::kAllGather, input, out, {}, widened(options)});
}

Tensor Group::all_gather(const Tensor& input, const MoveOptions& options) {
  return state_->collect({Request::Operation::kAllGather, input, {}, {}, widened(options)}).value();
}

Handle Group::start_all_gather(const Tensor& input, const TensorView& out,
                               const MoveOptions& options) {
  return state_->start({Request::Operation::kAllGather, input, out, {}, widened(options)});
}

void Group::gather(const Tensor& input, const TensorView& out, int root,
                   const MoveOptions& options) {
  state_->call({Request::Operation::kGather, input, out, root, widened(options)});
}

std::optional<Tensor> Group::gather(const Tensor& input, int root, const MoveOptions& options) {
  return state_->collect({Request::Operation::kGather, input, {}, root, widened(options)});
}

Handle Group::start_gather(const Tensor& input, const TensorView& out, int root,
                           const MoveOptions& options) {
  return state_->start({Request::Operation::kGather, input, out, root, widened(options)});
}

void Group::scatter(const Tensor& input, const TensorView& out, int root,
                    const MoveOptions& options) {
  state_->call({Request::Operation::kScatter, input, out, root, widened(options)});
}

Handle Group::start_scatter(const Tensor& input, const TensorView& out, int root,
                            const MoveOptions& options) {
  return state_->start({Request::Operation::kScatter, input, out, root, widened(options)});
}

void Group::all_to_all(const Tensor& input, const TensorView& out, const MoveOptions& options) {
  state_->call({Request::Operation::kAllToAll, input, out, {}, widened(options)});
}

Handle Group::start_all_to_all(const Tensor& input, const TensorView& out,
                               const MoveOptions& options) {
  return state_->start({Request::Operation::kAllToAll, input, out, {}, widened(options)});
}

Tensor Group::all_to_all(const Tensor& input, std::span<const std::int64_t> extents,
                         const MoveOptions& options) {
  return state_
      ->collect({Request::Operation::kAllToAll,
                 input,
                 {},
                 {},
                 widened(options),
                 {extents.begin(), extents.end()}})
      .value();
}

void Group::barrier(const MoveOptions& options) { state_->barrier(options); }

void Group::send(const Tensor& tensor, int to, const PostOptions& options) {
  state_->post().send(tensor, to, options);
}
void Group::receive(const TensorView& out, int from, const PostOptions& options) {
  state_->post().receive(out, from, options);
}
Handle Group::start_send(const Tensor& tensor, int to, const PostOptions& options) {
  return state_->post().start_send(tensor, to, options);
}
Handle Group::start_receive(const TensorView& out, int from, const PostOptions& options) {
  return state_->post().start_receive(out, from, options);
}

void Group::refuse(std::string_view sentence, std::optional<std::uint64_t> epoch) {
  state_->refuse(sentence, epoch);
}

std::optional<Group> Group::subgroup(std::span<const int> ranks) { return state_->subgroup(ranks); }

Group Group::shrink() { return state_->shrink(); }

}  // namespace fanin
