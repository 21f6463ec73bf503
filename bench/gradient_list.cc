#include "gradient_list.h"

#include <string>

#include "rank.h"

namespace bench {

GradientList::GradientList(fanin::Group& group, const std::vector<std::size_t>& counts)
    : buffer_(group.allocate(laid_out_bytes(counts))),
      spans_(lay_out(buffer_.bytes().data(), counts)),
      shares_(counts.size()) {
  for (const std::span<float> span : spans_) {
    const fanin::Shape shape{static_cast<std::int64_t>(span.size())};
    gradients_.push_back(fanin::Tensor::view(std::span<const float>(span), shape));
    outputs_.push_back(fanin::TensorView::over(span, shape));
  }
  const auto all = static_cast<double>(byte_count());
  std::size_t done = 0;
  for (std::size_t i = counts.size(); i-- > 0;) {
    done += spans_[i].size_bytes();
    shares_[i] = static_cast<double>(done) / all;
  }
}

std::size_t GradientList::byte_count() const {
  std::size_t bytes = 0;
  for (const std::span<float> span : spans_) bytes += span.size_bytes();
  return bytes;
}

fanin::ReductionPlan GradientList::plan(const fanin::Group& group,
                                        std::int64_t bytes_per_pack) const {
  fanin::ReductionRequest request;
  request.topology = {.worker_count = group.size()};
  for (const fanin::TensorView& output : outputs_)
    request.tensors.push_back(
        {"gradient " + std::to_string(request.tensors.size()), output.dtype, output.shape});
  request.packing.bytes_per_pack =
      bytes_per_pack == 0 ? static_cast<std::int64_t>(byte_count()) : bytes_per_pack;
  request.choices = {{"direct", 1, -1}};
  return fanin::plan_reduction(std::move(request));
}

}  // namespace bench
