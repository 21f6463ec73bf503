#include "resident_memory.h"

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

/// "NAME:  NUMBER kB" of each line, in bytes.
std::map<std::string, std::int64_t> read_sizes(const std::string& path) {
  std::map<std::string, std::int64_t> sizes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.ends_with(" kB")) continue;
    sizes[line.substr(0, colon)] = std::stoll(line.substr(colon + 1)) * 1024;
  }
  if (sizes.empty()) throw std::runtime_error(path + " cannot be read");
  return sizes;
}

}  // namespace

ResidentMemory resident_memory() {
  const auto status = read_sizes("/proc/self/status");
  const auto parts = read_sizes("/proc/self/smaps_rollup");
  // Code and shared memory only grow here, so that the peak has as much of them as there is now.
  return {.peak_private_bytes = status.at("VmHWM") - status.at("RssFile") - status.at("RssShmem"),
          .shared_bytes = parts.at("Pss_Shmem")};
}

void forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  if (!(file << "5" << std::flush)) throw std::runtime_error("/proc/self/clear_refs: not written");
}

}  // namespace bench
