// What a user of TensorFlow's MultiWorkerAllReduce would write: two workers with two GPUs each,
// small gradients by parameter servers in two shards, larger ones by rings across the workers.

#include <fanin/multi_worker_all_reduce.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  const std::vector<std::string> workers = {"/job:worker/task:0", "/job:worker/task:1"};
  const fanin::MultiWorkerAllReduce ops(workers, 2,
                                        {.all_reduce_spec = "pscpu#2:32K:nccl/xring",
                                         .agg_small_grads_max_bytes = 1024,
                                         .agg_small_grads_max_group = 10});

  std::vector<fanin::Device> devices;
  for (const std::string& worker : workers)
    for (const char* gpu : {"/gpu:0", "/gpu:1"})
      devices.push_back(fanin::parse_device(worker + gpu));

  // One bias and one kernel, a gradient from each device.
  std::vector<fanin::ReducePair> gradients;
  for (const std::int64_t count : {10, 100'000}) {
    std::vector<fanin::Tensor> terms;
    for (std::size_t replica = 0; replica < devices.size(); ++replica) {
      const std::vector<float> numbers(static_cast<std::size_t>(count),
                                       static_cast<float>(replica + 1));
      terms.push_back(fanin::Tensor::of<float>(std::span<const float>(numbers), {count}));
    }
    const fanin::PerReplica value(devices, terms);
    gradients.push_back({value, value});
  }

  std::printf("%s", to_text(ops.plan(fanin::ReduceOp::kMean, gradients)).c_str());
  const auto means = ops.batch_reduce(fanin::ReduceOp::kMean, gradients);
  for (const fanin::Result& mean : means) {
    const auto& tensor = std::get<fanin::Tensor>(value_on(mean, devices[3]));
    std::printf("%zu elements, each %g\n", tensor.element_count(), tensor.to_vector<float>()[0]);
  }
}
