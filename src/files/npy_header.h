#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "fanin/dtype.h"
#include "fanin/shape.h"

namespace fanin {

/// What stands before the data of a .npy file.
struct NpyHeader {
  DType dtype = DType::kFloat32;
  Shape shape;  ///< as NumPy shows it
  bool fortran_order = false;

  friend bool operator==(const NpyHeader&, const NpyHeader&) = default;
};

/// Enough of a file for npy_header_size().
inline constexpr std::size_t kNpyPrefixBytes = 12;

/// The size of the header, which is where the data starts, from the first bytes of a file (fewer
/// than kNpyPrefixBytes only if it has no more). Throws InvalidArgument (kBadFile) if they are not
/// those of a .npy file of format 1.0, 2.0 or 3.0.
std::size_t npy_header_size(std::span<const std::byte> prefix);

/// Reads the header of which `bytes` are the beginning, or more. Throws InvalidArgument (kBadFile)
/// with a sentence that has the file as its subject: "is not ...".
NpyHeader parse_npy_header(std::span<const std::byte> bytes);

/// The header as NumPy writes it, in format 1.0, or 2.0 if it is too long for that. Throws
/// InvalidArgument (kBadFile) for bfloat16, which .npy does not have.
std::string make_npy_header(const NpyHeader& header);

/// The dtype of a NumPy descriptor such as "<f4". Throws InvalidArgument (kBadFile) for those that
/// we do not sum, and says what to do.
DType parse_npy_descriptor(std::string_view descriptor);

/// "<f4" and so on; throws as make_npy_header().
std::string_view npy_descriptor(DType dtype);

}  // namespace fanin
