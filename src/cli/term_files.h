#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fanin/reduce_op.h"
#include "files/file.h"
#include "files/npy.h"
#include "files/safetensors_reader.h"
#include "files/safetensors_writer.h"

namespace fanin::cli {

/// A tensor that each of some files has.
struct TermEntry {
  std::string name;  ///< empty in .npy files, which hold one
  DType dtype = DType::kFloat32;
  Shape shape;  ///< as its owner sees it

  std::size_t byte_count() const { return shape.element_count() * size_of(dtype); }
};

/// Files whose tensors are the terms of sums: .npy files with one array each, or .safetensors files
/// with the same tensors. Opening reads headers only.
class TermFiles {
 public:
  /// Throws InvalidArgument (kBadFile, kShapeMismatch, kDtypeMismatch) with a sentence that names
  /// the files unless they fit together; tensors that differ are listed.
  explicit TermFiles(const std::vector<std::string>& paths);

  const std::vector<TermEntry>& entries() const { return entries_; }
  std::size_t file_count() const { return paths_.size(); }
  std::size_t byte_count() const;  ///< of the data of all files

  bool are_safetensors() const { return !readers_.empty(); }

  /// The metadata of the first file, which sums keep.
  const SafetensorsMetadata& metadata() const { return readers_.front()->metadata(); }

  /// Whether arrays are in Fortran order, all of them: then they are summed as their transposes.
  bool are_transposed() const { return are_transposed_; }

  Tensor read(std::size_t file, const TermEntry& entry, const OnBytes& on_bytes = nullptr) const;

 private:
  void open_npy();
  void open_safetensors();

  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<SafetensorsReader>> readers_;  // none for .npy
  std::vector<TermEntry> entries_;
  bool are_transposed_ = false;
};

/// Where sums of such files go: a file of the same kind, which appears whole or not at all.
class SumFile {
 public:
  /// `files` outlives it. Throws InvalidArgument (kBadFile) if nothing can be written there, or if
  /// the name is that of another kind.
  SumFile(const std::filesystem::path& path, const TermFiles& files, ReduceOp op);

  /// Each entry once.
  void write(const TermEntry& entry, const Tensor& sum, const OnBytes& on_bytes = nullptr);

  /// Once, at the end.
  void commit();

 private:
  std::filesystem::path path_;
  const TermFiles& files_;
  std::unique_ptr<SafetensorsWriter> writer_;  // none for .npy, which write() writes
};

}  // namespace fanin::cli
