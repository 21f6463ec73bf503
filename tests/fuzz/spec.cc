// Any text either is a spec, which prints as one that is read as the same, or is refused with
// InvalidArgument.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fanin/all_reduce_spec.h"
#include "fanin/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const fanin::AllReduceSpec spec(std::string_view(reinterpret_cast<const char*>(data), size));
    if (fanin::AllReduceSpec(to_string(spec)) != spec) std::abort();
    if (fanin::AllReduceSpec(spec.elements()) != spec) std::abort();
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1} << 10, ~std::size_t{0}})
      if (spec.select(bytes) >= spec.elements().size()) std::abort();
  } catch (const fanin::InvalidArgument& error) {
    if (error.kind() != fanin::ErrorKind::kBadSpec) std::abort();
  }
  return 0;
}
