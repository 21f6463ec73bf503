#include <cstring>

#include "core/require.h"
#include "fanin/cross_device_ops.h"

namespace fanin {
namespace {

std::vector<const Tensor*> dense_terms(const PerReplica& value) {
  require(!value.values().empty(), ErrorKind::kEmpty,
          "a value without components cannot be gathered; give one for each replica");
  std::vector<const Tensor*> terms;
  for (const Value& each : value.values()) {
    terms.push_back(std::get_if<Tensor>(&each));
    require(terms.back() != nullptr, ErrorKind::kBadOption,
            "the value of replica {} is sparse; only dense values are gathered", terms.size() - 1);
  }
  return terms;
}

/// The shape of all of them along the axis. Throws if they do not fit.
Shape gathered_shape(std::span<const Tensor* const> terms, std::size_t axis) {
  std::vector<std::int64_t> dims(terms.front()->shape().dims().begin(),
                                 terms.front()->shape().dims().end());
  for (std::size_t i = 1; i < terms.size(); ++i) {
    require(terms[i]->dtype() == terms[0]->dtype(), ErrorKind::kDtypeMismatch,
            "replica 0 has {}, but replica {} has {}", name(terms[0]->dtype()), i,
            name(terms[i]->dtype()));
    const auto other = terms[i]->shape().dims();
    bool fits = other.size() == dims.size();
    for (std::size_t d = 0; fits && d < dims.size(); ++d) fits = d == axis || dims[d] == other[d];
    if (!fits)
      throw InvalidArgument(
          ErrorKind::kShapeMismatch,
          fmt::format("replica 0 has shape {}, but replica {} has {}; only extent {} may differ",
                      to_string(terms[0]->shape()), i, to_string(terms[i]->shape()), axis));
    dims[axis] += other[axis];
  }
  return Shape(std::move(dims));
}

}  // namespace

Result CrossDeviceOps::gather(const PerReplica& value, const Destinations& destinations,
                              int axis) const {
  const std::vector<const Tensor*> terms = dense_terms(value);
  const std::size_t rank = terms.front()->shape().dims().size();
  require(axis >= 0 && static_cast<std::size_t>(axis) < rank, ErrorKind::kBadOption,
          "axis {} is not one of a tensor of shape {}", axis, to_string(terms.front()->shape()));
  const Shape shape = gathered_shape(terms, static_cast<std::size_t>(axis));
  const DType dtype = terms.front()->dtype();
  Buffer buffer = Context::process().buffers().allocate(shape.element_count() * size_of(dtype));

  std::size_t outer = 1;  // how often the replicas take turns
  for (int d = 0; d < axis; ++d)
    outer *= static_cast<std::size_t>(shape.dims()[static_cast<std::size_t>(d)]);
  std::byte* to = buffer.bytes().data();
  for (std::size_t turn = 0; turn < outer; ++turn)
    for (const Tensor* term : terms) {
      const std::size_t bytes = term->bytes().size() / outer;
      if (bytes > 0) std::memcpy(to, term->bytes().data() + turn * bytes, bytes);
      to += bytes;
    }
  return deliver(Tensor(std::move(buffer), dtype, shape), destinations);
}

}  // namespace fanin
