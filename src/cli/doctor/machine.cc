#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "cli/doctor/cores.h"
#include "cli/doctor/findings.h"
#include "cli/units.h"
#include "kernels/fold.h"

namespace fanin::cli {
namespace {

/// The first line of a file of the kernel, "" if there is none.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Finding find_cores() {
  const std::vector<int> usable = usable_cores();
  return {.name = "cores",
          .value = fmt::format("{} of {} may be used: {}", usable.size(),
                               ::sysconf(_SC_NPROCESSORS_ONLN), range_text(usable))};
}

/// A container may give fewer cores' time than it shows cores.
std::vector<Finding> find_quota() {
  std::istringstream line(first_line("/sys/fs/cgroup/cpu.max"));
  double quota = 0, period = 0;
  if (!(line >> quota >> period) || period <= 0) return {};  // "max": there is none
  const double cores = quota / period;
  const bool is_short = cores < static_cast<double>(usable_cores().size());
  return {{.name = "time of cores",
           .value = fmt::format("{:.3g} cores", cores),
           .health = is_short ? Health::kForbidden : Health::kOk,
           .advice = is_short ? "threads on more cores than that are stopped now and then; give "
                                "the container more, or run with fewer cores"
                              : ""}};
}

Finding find_caches() {
  const std::string folder =
      fmt::format("/sys/devices/system/cpu/cpu{}/cache", usable_cores().front());
  std::string text;
  for (int index = 0;; ++index) {
    const std::string cache = fmt::format("{}/index{}/", folder, index);
    const std::string level = first_line(cache + "level");
    if (level.empty()) break;
    if (first_line(cache + "type") == "Instruction") continue;
    text += fmt::format("{}L{} {} (cores {})", text.empty() ? "" : ", ", level,
                        first_line(cache + "size"), first_line(cache + "shared_cpu_list"));
  }
  if (text.empty())
    return {.name = "caches",
            .value = folder + " is not there",
            .health = Health::kMissing,
            .advice = "a last cache of 32 MB is assumed"};
  return {.name = "caches", .value = text};
}

Finding find_memory() {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::string text = fmt::format(
      "{}, {} free", bytes_text(static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * page),
      bytes_text(static_cast<std::size_t>(::sysconf(_SC_AVPHYS_PAGES)) * page));
  std::istringstream line(first_line("/sys/fs/cgroup/memory.max"));
  if (std::size_t limit = 0; line >> limit)
    text += fmt::format(", of which the container may use {}", bytes_text(limit));
  return {.name = "memory", .value = text};
}

/// The part before the comma of "AVX2, partial sums in float32".
Finding find_kernels() {
  const std::string text =
      describe_kernel(make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 2));
  return {.name = "kernels", .value = text.substr(0, text.find(','))};
}

}  // namespace

std::vector<int> usable_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

std::vector<Finding> examine_machine() {
  std::vector<Finding> findings = {find_cores()};
  for (Finding& quota : find_quota()) findings.push_back(std::move(quota));
  findings.push_back(find_caches());
  findings.push_back(find_kernels());
  findings.push_back(find_memory());
  return findings;
}

}  // namespace fanin::cli
