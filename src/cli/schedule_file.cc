#include "cli/schedule_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/require.h"

namespace fanin::cli {

Schedule read_schedule(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  require(file.good() && !std::filesystem::is_directory(path), ErrorKind::kBadFile,
          "\"{}\" cannot be read; is it a file?", path);
  try {
    return parse_schedule(text.str());
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(error.kind(), fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace fanin::cli
