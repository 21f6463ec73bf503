// Any text either is a device, whose canonical form is read as the same device, or is refused with
// InvalidArgument.

#include "fanin/device.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fanin/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const fanin::Device device = fanin::parse_device({reinterpret_cast<const char*>(data), size});
    if (fanin::parse_device(to_string(device)) != device) std::abort();
  } catch (const fanin::InvalidArgument& error) {
    if (error.kind() != fanin::ErrorKind::kBadDevice) std::abort();
  }
  return 0;
}
