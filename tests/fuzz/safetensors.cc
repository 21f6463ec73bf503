// Any text is the header of a .safetensors file or an InvalidArgument; what is read can be written
// and read again, and laid out anew.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "fanin/error.h"
#include "files/safetensors_header.h"

namespace {

/// Gives the text its length, which mutations would never get right.
std::string with_length(const std::uint8_t* data, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(size >> (8 * i) & 0xffU);
  return bytes.append(reinterpret_cast<const char*>(data), size);
}

fanin::SafetensorsHeader parse(const std::string& bytes) {
  return fanin::parse_safetensors_header(std::as_bytes(std::span(bytes)));
}

void check(const std::string& bytes) {
  fanin::SafetensorsHeader header;
  try {
    header = parse(bytes);
  } catch (const fanin::InvalidArgument& error) {
    if (error.kind() != fanin::ErrorKind::kBadFile) std::abort();
    return;
  }
  if (parse(fanin::make_safetensors_header(header)) != header) std::abort();
  const auto laid_out = fanin::lay_out_safetensors(header.entries, header.metadata);
  if (laid_out.data_byte_count() != header.data_byte_count()) std::abort();
  if (parse(fanin::make_safetensors_header(laid_out)) != laid_out) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::string(reinterpret_cast<const char*>(data), size));
  check(with_length(data, size));
  return 0;
}
