#pragma once

#include <filesystem>

#include "fanin/context.h"
#include "fanin/tensor.h"
#include "files/file.h"
#include "files/npy_header.h"

namespace fanin {

/// An array from a .npy file. The tensor is row-major. An array in Fortran order is kept as its
/// transpose, whose bytes are the same: shape [2,3] becomes a tensor of shape [3,2].
struct NpyArray {
  Tensor tensor;
  bool is_transposed = false;

  /// As NumPy shows it.
  Shape shape() const;
};

/// Reads and checks the header alone.
NpyHeader read_npy_header(const std::filesystem::path& path);

/// Reads a whole array. Throws InvalidArgument (kBadFile) with a sentence that names the file if it
/// is missing, damaged, or of another kind, and Unavailable if the system fails to read it.
NpyArray read_npy(const std::filesystem::path& path, Context& context,
                  const OnBytes& on_bytes = nullptr);

/// Writes a whole array or nothing, as WholeFile does, and throws as it does; also InvalidArgument
/// (kBadFile) for bfloat16, which .npy does not have.
void write_npy(const std::filesystem::path& path, const NpyArray& array,
               const OnBytes& on_bytes = nullptr);

/// The same array in row-major order; the one given, if it is that already.
NpyArray to_row_major(const NpyArray& array, Context& context);

}  // namespace fanin
