#include "fanin/variable.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/require.h"

namespace fanin {

struct Variable::State {
  std::string name;
  std::vector<Device> devices;
  DType dtype;
  Shape shape;
  std::mutex mutex;
  std::vector<Tensor> values;  // by device; guarded by the mutex

  void check(const Tensor& value) const {
    require(value.dtype() == dtype, ErrorKind::kDtypeMismatch,
            "a {} tensor was assigned to the variable \"{}\", which is {}",
            fanin::name(value.dtype()), name, fanin::name(dtype));
    require(value.shape() == shape, ErrorKind::kShapeMismatch,
            "a tensor of shape {} was assigned to the variable \"{}\", which has shape {}",
            to_string(value.shape()), name, to_string(shape));
  }

  void replace(std::vector<Tensor> fresh) {
    const std::lock_guard lock(mutex);
    values = std::move(fresh);
  }
};

Variable::Variable(const Tensor& value, std::string name)
    : Variable(value, {value.device()}, std::move(name)) {}

Variable::Variable(const Tensor& value, std::vector<Device> devices, std::string name)
    : state_(std::make_shared<State>()) {
  require(!devices.empty(), ErrorKind::kEmpty, "a variable needs at least one device");
  state_->name = std::move(name);
  state_->devices = std::move(devices);
  state_->dtype = value.dtype();
  state_->shape = value.shape();
  assign(value);
}

const std::string& Variable::name() const { return state_->name; }
const std::vector<Device>& Variable::devices() const { return state_->devices; }

Tensor Variable::value() const {
  const std::lock_guard lock(state_->mutex);
  return state_->values.front();
}

Tensor Variable::value(const Device& device) const {
  const auto found = std::ranges::find(state_->devices, device);
  require(found != state_->devices.end(), ErrorKind::kBadDevice,
          "the variable \"{}\" does not live on {}", state_->name, to_string(device));
  const std::lock_guard lock(state_->mutex);
  return state_->values[static_cast<std::size_t>(found - state_->devices.begin())];
}

void Variable::assign(const Tensor& value) {
  state_->check(value);
  std::vector<Tensor> fresh;
  for (const Device& device : state_->devices) fresh.push_back(value.on(device));
  state_->replace(std::move(fresh));
}

void Variable::assign_each(const std::function<Tensor(const Device&, const Tensor&)>& update) {
  std::vector<Tensor> fresh;
  for (const Device& device : state_->devices) {
    const Tensor made = update(device, value(device));
    state_->check(made);
    fresh.push_back(made.on(device));
  }
  state_->replace(std::move(fresh));
}

}  // namespace fanin
