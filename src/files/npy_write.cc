#include "files/npy.h"
#include "files/whole_file.h"

namespace fanin {

void write_npy(const std::filesystem::path& path, const NpyArray& array, const OnBytes& on_bytes) {
  const std::string header =
      make_npy_header({array.tensor.dtype(), array.shape(), array.is_transposed});
  WholeFile file(path);
  file.write(std::as_bytes(std::span(header)), 0);
  file.write(array.tensor.bytes(), header.size(), on_bytes);
  file.commit();
}

}  // namespace fanin
