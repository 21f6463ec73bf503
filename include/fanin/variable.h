#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fanin/device.h"
#include "fanin/tensor.h"

namespace fanin {

/// A tensor that is replaced as a whole: on one device, or mirrored on several. A handle: copies
/// are the same variable. Any thread may read while another assigns: a reader has the old value or
/// the new one.
class Variable {
 public:
  /// On the device of its value.
  explicit Variable(const Tensor& value, std::string name = "");

  /// On all the devices. Throws InvalidArgument (kEmpty) if there are none.
  Variable(const Tensor& value, std::vector<Device> devices, std::string name = "");

  const std::string& name() const;
  const std::vector<Device>& devices() const;
  bool is_mirrored() const { return devices().size() > 1; }

  /// The value on its first device, or on the one that is named. Throws InvalidArgument
  /// (kBadDevice) if it does not live there.
  Tensor value() const;
  Tensor value(const Device& device) const;

  /// Gives every device the same new value. Throws InvalidArgument (kShapeMismatch,
  /// kDtypeMismatch), and has changed nothing then, if it is not like the old one.
  void assign(const Tensor& value);

  /// Calls `update(device, its value)` for each device in order, and then gives each what came out
  /// for it. Throws as assign(), and whatever `update` throws.
  void assign_each(const std::function<Tensor(const Device&, const Tensor&)>& update);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fanin
