#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>

namespace fanin {

/// The name of a place: memory, and something that can add. "/gpu:0" and
/// "/job:worker/task:1/device:CPU:0" are device strings.
struct Device {
  std::string job = "localhost";
  int replica = 0;
  int task = 0;
  std::string type = "CPU";  ///< in capitals
  int index = 0;

  friend auto operator<=>(const Device&, const Device&) = default;
};

/// Reads a device string: an optional "/", then parts in any order, each at most once, separated by
/// "/": job:NAME, replica:N, task:N, device:TYPE:N, or cpu or gpu with an optional :N. Types in any
/// case. What is missing is localhost, 0, 0, CPU:0.
/// Throws InvalidArgument (kBadDevice) and quotes the string otherwise.
Device parse_device(std::string_view text);

/// The canonical form, "/job:localhost/replica:0/task:0/device:GPU:0".
std::string to_string(const Device& device);

/// Whether both lists name the same set of devices. Order and repetition do not matter.
bool same_devices(std::span<const Device> left, std::span<const Device> right);

}  // namespace fanin
