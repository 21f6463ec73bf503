// Times the reduction of many tensors across replicas in one process. Reads lines "outputs spec
// replicas file seconds", where the file has the number of elements of each tensor, and answers
// each with a line of JSON: seconds of one call by Fanin, and by hand-written loops over the same
// memory as one array, in turns. Outputs are "one" (MultiWorkerAllReduce::batch_reduce, whose
// results share a buffer), "all" (a buffer for each replica, by a Plan) or "plan" (only planning,
// for workers with 8 replicas each; there is nothing beside it).

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "against_limit.h"
#include "fanin/multi_worker_all_reduce.h"
#include "ones.h"
#include "serve.h"

namespace bench {
namespace {

struct Case {
  std::string outputs;
  std::string spec;
  int replicas = 0;
  std::string path;

  /// Two levels have pairs of devices.
  fanin::Topology topology() const {
    if (outputs == "plan") return {.worker_count = replicas / 8, .devices_per_worker = 8};
    if (spec.find('/') == std::string::npos) return {.worker_count = replicas};
    return {.worker_count = replicas / 2, .devices_per_worker = 2};
  }
};

/// Tensors one after the other in a row, each on a border of 64 bytes.
class TensorRow {
 public:
  explicit TensorRow(const std::string& path) {
    std::ifstream file(path);
    for (std::int64_t count = 0; file >> count;) {
      offsets_.push_back(bytes_);
      counts_.push_back(count);
      bytes_ += (static_cast<std::size_t>(count) * sizeof(float) + 63) / 64 * 64;
    }
    if (counts_.empty()) throw std::invalid_argument(path + " holds no numbers of elements");
  }

  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return counts_.size(); }
  fanin::Shape shape(std::size_t tensor) const { return {counts_[tensor]}; }

  fanin::Tensor tensor(const std::byte* row, std::size_t tensor) const {
    return fanin::Tensor::view({row + offsets_[tensor], bytes_of(tensor)}, fanin::DType::kFloat32,
                               shape(tensor));
  }
  fanin::TensorView view(std::byte* row, std::size_t tensor) const {
    return {{row + offsets_[tensor], bytes_of(tensor)}, fanin::DType::kFloat32, shape(tensor)};
  }

 private:
  std::size_t bytes_of(std::size_t tensor) const {
    return static_cast<std::size_t>(counts_[tensor]) * sizeof(float);
  }

  std::vector<std::size_t> offsets_;
  std::vector<std::int64_t> counts_;
  std::size_t bytes_ = 0;
};

std::vector<fanin::Device> world_of(const fanin::Topology& topology) {
  std::vector<fanin::Device> devices;
  for (int worker = 0; worker < topology.worker_count; ++worker)
    for (int gpu = 0; gpu < topology.devices_per_worker; ++gpu)
      devices.push_back({.job = "worker", .task = worker, .type = "GPU", .index = gpu});
  return devices;
}

Times time_batch_reduce(const Case& each, const TensorRow& row, const Ones& ones, double budget) {
  const fanin::Topology topology = each.topology();
  std::vector<std::string> workers;
  workers.reserve(static_cast<std::size_t>(topology.worker_count));
  for (int worker = 0; worker < topology.worker_count; ++worker)
    workers.push_back(fmt::format("/job:worker/task:{}", worker));
  const fanin::MultiWorkerAllReduce ops(workers, topology.devices_per_worker,
                                        {.all_reduce_spec = each.spec});
  const std::vector<fanin::Device> devices = world_of(topology);
  std::vector<fanin::ReducePair> pairs;
  for (std::size_t tensor = 0; tensor < row.size(); ++tensor) {
    std::vector<fanin::Tensor> terms;
    for (const std::byte* source : ones.sum().sources) terms.push_back(row.tensor(source, tensor));
    pairs.push_back({fanin::PerReplica(devices, terms), devices.front()});
  }
  return time_in_turns(ones.sum(), budget, [&] { ops.batch_reduce(fanin::ReduceOp::kSum, pairs); });
}

fanin::ReductionRequest make_request(const Case& each, const TensorRow& row) {
  fanin::ReductionRequest request{.topology = each.topology(),
                                  .choices = fanin::AllReduceSpec(each.spec).elements()};
  for (std::size_t tensor = 0; tensor < row.size(); ++tensor)
    request.tensors.push_back(
        {fmt::format("tensor {}", tensor), fanin::DType::kFloat32, row.shape(tensor)});
  return request;
}

nlohmann::json time_planning(const Case& each, const TensorRow& row, double budget) {
  const fanin::ReductionRequest request = make_request(each, row);
  return {{"fanin", time_call(budget, [&] { plan_reduction(request); })}};
}

Times time_plan(const Case& each, const TensorRow& row, const Ones& ones, double budget) {
  std::vector<fanin::Tensor> inputs;
  std::vector<fanin::TensorView> outputs;
  for (std::size_t replica = 0; replica < ones.sum().sources.size(); ++replica)
    for (std::size_t tensor = 0; tensor < row.size(); ++tensor) {
      inputs.push_back(row.tensor(ones.sum().sources[replica], tensor));
      outputs.push_back(row.view(ones.sum().targets[replica], tensor));
    }
  fanin::Plan plan(plan_reduction(make_request(each, row)), fanin::ResultBuffers::kSeparate);
  return time_in_turns(ones.sum(), budget, [&] { plan.run(inputs, outputs); });
}

void serve() {
  Case each;
  double budget_seconds = 0;
  while (std::cin >> each.outputs >> each.spec >> each.replicas >> each.path >> budget_seconds) {
    const TensorRow row(each.path);
    if (each.outputs == "plan") {
      std::cout << time_planning(each, row, budget_seconds) << std::endl;
      continue;
    }
    const auto replicas = static_cast<std::size_t>(each.replicas);
    const bool is_one = each.outputs == "one";
    const Ones ones(Type::kFloat32, row.bytes(), replicas, is_one ? 1 : replicas);
    // Four parts: Fanin, two ways, and the choice of these.
    const double budget = 4 * budget_seconds;
    std::cout << to_json(is_one ? time_batch_reduce(each, row, ones, budget)
                                : time_plan(each, row, ones, budget))
              << std::endl;
  }
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_devices", bench::serve); }
