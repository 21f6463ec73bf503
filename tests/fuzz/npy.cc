// Any bytes are the header of a .npy file or an InvalidArgument; what is read can be written and
// read again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fanin/error.h"
#include "files/npy_header.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fanin::NpyHeader;
  NpyHeader header;
  try {
    header = fanin::parse_npy_header(std::as_bytes(std::span(data, size)));
  } catch (const fanin::InvalidArgument& error) {
    if (error.kind() != fanin::ErrorKind::kBadFile) std::abort();
    return 0;
  }
  const std::string made = fanin::make_npy_header(header);
  if (fanin::parse_npy_header(std::as_bytes(std::span(made))) != header) std::abort();
  return 0;
}
