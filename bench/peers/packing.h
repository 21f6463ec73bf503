#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "../rank.h"

namespace bench {

/// The calls of a peer that sums one array in place, by `all_reduce(data, count)`: tensor by
/// tensor, and, of several tensors, all together in a buffer, with a copy there and back.
template <typename AllReduce>
Task make_peer_task(const Request& request, AllReduce all_reduce) {
  if (request.memory != "private") throw std::invalid_argument("only private memory");
  Task task = make_private_tensors(request.counts);
  const std::vector<std::span<float>> tensors = task.tensors;
  task.calls.push_back({"each", [=] {
                          for (const std::span<float> tensor : tensors)
                            all_reduce(tensor.data(), tensor.size());
                        }});
  if (tensors.size() == 1) return task;
  const auto pack = std::make_shared<std::vector<float>>(request.element_count());
  task.calls.push_back({"packed", [=] {
                          float* at = pack->data();
                          for (const std::span<float> tensor : tensors)
                            at = std::ranges::copy(tensor, at).out;
                          all_reduce(pack->data(), pack->size());
                          at = pack->data();
                          for (const std::span<float> tensor : tensors) {
                            std::copy_n(at, tensor.size(), tensor.data());
                            at += tensor.size();
                          }
                        }});
  return task;
}

}  // namespace bench
