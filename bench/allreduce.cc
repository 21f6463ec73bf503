// One rank of Fanin in ./bench/run allreduce: joins the group that its environment describes, and
// sums tensors in place.

#include <stdexcept>
#include <utility>

#include "fanin/group.h"
#include "fanin/join.h"
#include "rank.h"
#include "run_server.h"

namespace bench {
namespace {

Task make_tensors(fanin::Group& group, const Request& request) {
  if (request.memory == "private") return make_private_tensors(request.counts);
  const fanin::Buffer buffer = group.allocate(laid_out_bytes(request.counts));
  return {.tensors = lay_out(buffer.bytes().data(), request.counts),
          .calls = {},
          .memory = std::make_shared<fanin::Buffer>(buffer)};
}

Task make_task(fanin::Group& group, const Request& request) {
  Task task = make_tensors(group, request);
  std::vector<fanin::Tensor> inputs;
  std::vector<fanin::TensorView> outputs;
  for (const std::span<float> tensor : task.tensors) {
    const fanin::Shape shape{static_cast<std::int64_t>(tensor.size())};
    inputs.push_back(fanin::Tensor::view(std::span<const float>(tensor), shape));
    outputs.push_back(fanin::TensorView::over(tensor, shape));
  }
  if (inputs.size() == 1)
    task.calls.push_back({"all_reduce", [&group, input = inputs[0], output = outputs[0]] {
                            group.all_reduce(input, output);
                          }});
  else
    task.calls.push_back(
        {"list", [&group, inputs = std::move(inputs), outputs = std::move(outputs)] {
           group.all_reduce(inputs, outputs);
         }});
  return task;
}

void serve() {
  const Seat seat = take_seat();
  fanin::Group group = fanin::join(fanin::JoinOptions::from_environment());
  serve_rank(seat, std::string(group.transport()),
             [&group](const Request& request) { return make_task(group, request); });
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_allreduce", bench::serve); }
