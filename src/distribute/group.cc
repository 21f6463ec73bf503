#include "fanin/group.h"

#include "distribute/group_state.h"
#include "fanin/context.h"
#include "transports/transport.h"

namespace fanin {

Group::Group(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout)
    : state_(std::make_unique<State>(std::move(transport), timeout)) {}
Group::Group(std::unique_ptr<State> state) : state_(std::move(state)) {}
Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;
Group::~Group() = default;

int Group::rank() const { return state_->transport().rank(); }
int Group::size() const { return state_->transport().size(); }
std::string_view Group::transport() const { return state_->transport().name(); }
std::uint64_t Group::epoch() const { return state_->transport().epoch(); }

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
  state_->reduce(input, out, root, options);
}

void Group::broadcast(const TensorView& inout, int root) { state_->broadcast(inout, root); }

Tensor Group::all_gather(const Tensor& input) { return state_->all_gather(input); }

void Group::barrier() { state_->barrier(); }

void Group::refuse(std::string_view sentence) { state_->refuse(sentence); }

std::optional<Group> Group::subgroup(std::span<const int> ranks) { return state_->subgroup(ranks); }

Group Group::shrink() { return state_->shrink(); }

}  // namespace fanin
