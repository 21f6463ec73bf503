#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fanin/group.h"
#include "rank.h"

namespace bench {

inline Task make_tensors(fanin::Group& group, const Request& request) {
  if (request.memory == "private") return make_private_tensors(request.counts);
  const fanin::Buffer buffer = group.allocate(laid_out_bytes(request.counts));
  return {.tensors = lay_out(buffer.bytes().data(), request.counts),
          .calls = {},
          .memory = std::make_shared<fanin::Buffer>(buffer)};
}

/// Sums the tensors in place.
inline Task make_task(fanin::Group& group, const Request& request) {
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

}  // namespace bench
