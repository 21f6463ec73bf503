#include "cli/term_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/require.h"
#include "files/whole_file.h"
#include "kernels/arithmetic.h"

namespace fanin::cli {
namespace {

constexpr std::string_view kSafetensors = ".safetensors";
constexpr std::size_t kMostListed = 5;

bool is_safetensors(std::string_view path) { return path.ends_with(kSafetensors); }

/// "'a', 'b' and 3 more".
std::string listed(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostListed);
  std::string text = fmt::format(
      "'{}'", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), "', '"));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::vector<std::string> names_missing_in(const SafetensorsReader& reader,
                                          const SafetensorsReader& other) {
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : other.entries())
    if (!reader.contains(entry.name)) names.push_back(entry.name);
  return names;
}

void check_names(const SafetensorsReader& first, const SafetensorsReader& other) {
  const auto lacking = names_missing_in(other, first);
  const auto extra = names_missing_in(first, other);
  if (lacking.empty() && extra.empty()) return;
  std::string text = other.path().string();
  if (!lacking.empty()) text += " lacks " + listed(lacking);
  if (!lacking.empty() && !extra.empty()) text += ", and";
  if (!extra.empty()) text += " has " + listed(extra);
  throw InvalidArgument(ErrorKind::kBadFile,
                        fmt::format("{}, other than {}; the terms of a sum have the same tensors",
                                    text, first.path().string()));
}

/// Lists every tensor whose dtype, or whose shape, is another one.
void check_entries(const SafetensorsReader& first, const SafetensorsReader& other) {
  std::vector<std::string> differences;
  ErrorKind kind = ErrorKind::kShapeMismatch;
  for (const SafetensorsEntry& a : first.entries()) {
    const SafetensorsEntry& b = other.entry(a.name);
    if (a.dtype == b.dtype && a.shape == b.shape) continue;
    if (a.dtype != b.dtype) kind = ErrorKind::kDtypeMismatch;
    differences.push_back(fmt::format("'{}' ({} {} and {} {})", a.name, name(a.dtype),
                                      to_string(a.shape), name(b.dtype), to_string(b.shape)));
  }
  if (differences.empty()) return;
  const std::size_t shown = std::min(differences.size(), kMostListed);
  throw InvalidArgument(
      kind, fmt::format("{} and {} differ in {}{}; the terms of a sum have one dtype and one shape",
                        first.path().string(), other.path().string(),
                        fmt::join(differences.begin(),
                                  differences.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                        shown < differences.size()
                            ? fmt::format(" and {} more", differences.size() - shown)
                            : ""));
}

}  // namespace

TermFiles::TermFiles(const std::vector<std::string>& paths) : paths_(paths) {
  require(!paths.empty(), ErrorKind::kEmpty, "there are no files to sum");
  const bool is_first_one = is_safetensors(paths.front());
  for (const std::string& path : paths)
    require(is_safetensors(path) == is_first_one, ErrorKind::kBadFile,
            "{} and {} are files of different kinds; sum either .npy or .safetensors files",
            paths.front(), path);
  is_first_one ? open_safetensors() : open_npy();
}

void TermFiles::open_npy() {
  const NpyHeader first = read_npy_header(paths_.front());
  are_transposed_ = true;
  for (const std::string& path : paths_) {
    const NpyHeader header = read_npy_header(path);
    require(header.dtype == first.dtype, ErrorKind::kDtypeMismatch,
            "{} is {} but {} is {}; the terms of a sum have one dtype", paths_.front(),
            name(first.dtype), path, name(header.dtype));
    require(header.shape == first.shape, ErrorKind::kShapeMismatch,
            "{} has shape {} but {} has shape {}; the terms of a sum have one shape",
            paths_.front(), to_string(first.shape), path, to_string(header.shape));
    are_transposed_ = are_transposed_ && header.fortran_order;
  }
  entries_ = {{"", first.dtype, first.shape}};
}

void TermFiles::open_safetensors() {
  for (const std::string& path : paths_)
    readers_.push_back(std::make_unique<SafetensorsReader>(path));
  for (const auto& reader : readers_) {
    check_names(*readers_.front(), *reader);
    check_entries(*readers_.front(), *reader);
  }
  for (const SafetensorsEntry& entry : readers_.front()->entries())
    entries_.push_back({entry.name, entry.dtype, entry.shape});
}

std::size_t TermFiles::byte_count() const {
  std::size_t bytes = 0;
  for (const TermEntry& entry : entries_) bytes += entry.byte_count();
  return bytes * paths_.size();
}

Tensor TermFiles::read(std::size_t file, const TermEntry& entry, const OnBytes& on_bytes) const {
  Context& context = Context::process();
  if (are_safetensors()) return readers_[file]->read_tensor(entry.name, context, on_bytes);
  const NpyArray array = read_npy(paths_[file], context, on_bytes);
  return are_transposed_ ? array.tensor : to_row_major(array, context).tensor;
}

SumFile::SumFile(const std::filesystem::path& path, const TermFiles& files, ReduceOp op)
    : path_(path), files_(files) {
  require(is_safetensors(path.string()) == files.are_safetensors(), ErrorKind::kBadFile,
          "the sum of {} files cannot go to {}: name a file of the same kind",
          files.are_safetensors() ? ".safetensors" : ".npy", path.string());
  check_target(path);
  if (!files.are_safetensors()) return;
  std::vector<SafetensorsEntry> entries;
  for (const TermEntry& entry : files.entries())
    entries.push_back(
        {.name = entry.name, .dtype = result_dtype(op, entry.dtype), .shape = entry.shape});
  writer_ = std::make_unique<SafetensorsWriter>(path, std::move(entries), files.metadata());
}

void SumFile::write(const TermEntry& entry, const Tensor& sum, const OnBytes& on_bytes) {
  if (writer_)
    writer_->write_tensor(entry.name, sum, on_bytes);
  else
    write_npy(path_, {sum, files_.are_transposed()}, on_bytes);
}

void SumFile::commit() {
  if (writer_) writer_->commit();
}

}  // namespace fanin::cli
