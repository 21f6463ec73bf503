// NumPy's names of dtypes: a byte order, a kind and a size, such as "<f4".

#include <array>

#include "core/require.h"
#include "files/npy_header.h"

namespace fanin {
namespace {

struct Descriptor {
  DType dtype;
  std::string_view text;
};

constexpr std::array kDescriptors = {
    Descriptor{DType::kFloat16, "<f2"}, Descriptor{DType::kFloat32, "<f4"},
    Descriptor{DType::kFloat64, "<f8"}, Descriptor{DType::kInt8, "|i1"},
    Descriptor{DType::kInt16, "<i2"},   Descriptor{DType::kInt32, "<i4"},
    Descriptor{DType::kInt64, "<i8"},   Descriptor{DType::kUInt8, "|u1"},
    Descriptor{DType::kUInt16, "<u2"},  Descriptor{DType::kUInt32, "<u4"},
    Descriptor{DType::kUInt64, "<u8"},
};

[[noreturn]] void refuse(std::string_view descriptor, std::string_view reason) {
  throw InvalidArgument(ErrorKind::kBadFile, fmt::format("has dtype '{}', {}", descriptor, reason));
}

}  // namespace

DType parse_npy_descriptor(std::string_view descriptor) {
  const char order = descriptor.empty() ? '\0' : descriptor.front();
  const std::string_view kind = descriptor.substr(descriptor.empty() ? 0 : 1);
  if (order == '<' || order == '|' || order == '=') {
    for (const Descriptor& known : kDescriptors)
      if (known.text.substr(1) == kind) return known.dtype;
  }
  if (order == '>') {
    for (const Descriptor& known : kDescriptors)
      if (known.text.substr(1) == kind)
        refuse(descriptor,
               fmt::format("which is big-endian; convert it in NumPy with array.astype('{}')",
                           known.text));
  }
  if (kind == "V2")
    refuse(descriptor,
           "which is how NumPy stores bfloat16, without saying so; save it as float32, with "
           "array.astype('float32')");
  if (kind.starts_with('b')) refuse(descriptor, "booleans; use array.astype('u1')");
  if (kind.starts_with('c'))
    refuse(descriptor, "complex numbers; save array.real and array.imag each on its own");
  if (kind.starts_with('O')) refuse(descriptor, "Python objects, which are not numbers");
  refuse(descriptor, "which cannot be summed; use f2, f4, f8, i1, i2, i4, i8, u1, u2, u4 or u8");
}

std::string_view npy_descriptor(DType dtype) {
  for (const Descriptor& known : kDescriptors)
    if (known.dtype == dtype) return known.text;
  throw InvalidArgument(ErrorKind::kBadFile,
                        fmt::format("cannot hold {}: .npy has no such dtype", name(dtype)));
}

}  // namespace fanin
