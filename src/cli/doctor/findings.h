#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fanin::cli {

enum class Health : std::uint8_t { kOk, kMissing, kForbidden };

/// "ok", "missing", "forbidden".
std::string_view name(Health health);

/// One thing that was looked at.
struct Finding {
  std::string name;
  std::string value;
  Health health = Health::kOk;
  std::string advice = {};  // what to do, or what happens without it; "" if nothing
  bool is_needed = false;   // without it something that Fanin promises does not work
};

/// Whether a system call that failed with this error is forbidden, or not there at all.
Health health_of(int error);

/// "0-3,8" from numbers in order.
std::string range_text(const std::vector<int>& numbers);

/// Cores and which of them this process may use, caches, memory, the kernels' instructions.
std::vector<Finding> examine_machine();

/// How far this process's cores are from each other.
std::vector<Finding> examine_distances();

/// What the system or a container lets this process do.
std::vector<Finding> examine_permissions();

/// Programs that work on Fanin needs, in the folders of `search_path` ("/usr/bin:/bin").
std::vector<Finding> examine_programs(std::string_view search_path);

}  // namespace fanin::cli
