#include "memory_of_steps.h"

#include <algorithm>
#include <stdexcept>

#include "fanin/automatic_packing.h"
#include "fanin/optimizer.h"
#include "fanin/plan.h"
#include "gradient_list.h"
#include "rank.h"

namespace bench {
namespace {

fanin::OptimizerOptions options_of(const std::string& optimizer) {
  if (optimizer == "sgd") return fanin::SgdOptions{.momentum = 0.9};
  if (optimizer == "adam") return fanin::AdamOptions{};
  throw std::invalid_argument("the optimizer is sgd or adam; \"" + optimizer + "\" is unknown");
}

}  // namespace

MemoryOfSteps measure_memory_of_steps(fanin::Group& group, const std::vector<std::size_t>& counts,
                                      const std::string& optimizer, const ResidentMemory& before) {
  const GradientList gradients(group, counts);
  const fanin::Buffer memory = group.allocate(laid_out_bytes(counts));
  std::vector<fanin::TensorView> parameters;
  for (const std::span<float> span : lay_out(memory.bytes().data(), counts)) {
    std::ranges::fill(span, 1.0F);
    parameters.push_back(
        fanin::TensorView::over(span, fanin::Shape{static_cast<std::int64_t>(span.size())}));
  }
  fanin::Optimizer updates(parameters, options_of(optimizer));
  const fanin::AutomaticPacking packing =
      fanin::choose_packing(gradients.byte_count(), fanin::measure_pack_cost(group));
  fanin::Plan plan(gradients.plan(group, packing.bytes_per_pack), group);
  for (int step = 0; step < 3; ++step) {
    rewrite(gradients.spans(), group.rank(), step);
    fanin::Reduction sums = plan.start(gradients.outputs());
    for (std::size_t i = 0; i < gradients.size(); ++i)
      sums.then(i, [&updates, i](const fanin::Value& sum) { updates.apply(i, sum); });
    for (std::size_t i = gradients.size(); i-- > 0;) sums.push(i, gradients.gradient(i));
    sums.finish();
  }
  group.barrier();  // all have touched what they share
  const ResidentMemory after = resident_memory();
  group.barrier();
  return {.grown_bytes = after.bytes() - before.bytes(),
          .needed_bytes =
              static_cast<std::int64_t>(2 * gradients.byte_count() + updates.state_bytes())};
}

}  // namespace bench
