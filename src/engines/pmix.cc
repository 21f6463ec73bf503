#include "engines/pmix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engines/module.h"
#include "fanin/error.h"

namespace fanin {
namespace {

constexpr Module kModule = {"PMIx", "fanin-pmix.so", "fanin_pmix_table_1", "libpmix-dev"};

const FaninPmix& load_pmix(const std::filesystem::path& modules) {
  using GetTable = const FaninPmix* (*)();
  return *reinterpret_cast<GetTable>(load_module(kModule, modules))();
}

}  // namespace

Pmix::Pmix(const std::filesystem::path& modules) : pmix_(load_pmix(modules)) {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint32_t local_size = 0;
  check(pmix_.initialize(&rank, &size, &local_size), "asking the launcher who this process is");
  rank_ = static_cast<int>(rank);
  size_ = static_cast<int>(size);
  local_size_ = static_cast<int>(local_size);
  number_ = pmix_.count_join();
}

void Pmix::check(int error, std::string_view what) const {
  if (error != 0)
    throw Unavailable(fmt::format("{} by PMIx failed: {}", what, pmix_.explain(error)));
}

std::string Pmix::own_key(std::string_view key) const {
  return fmt::format("fanin.{}.{}", number_, key);
}

void Pmix::put(std::string_view key, std::string_view text) const {
  check(pmix_.put(own_key(key).c_str(), std::string(text).c_str()), "leaving a note");
}

std::string Pmix::get(std::string_view key, std::chrono::duration<double> timeout) const {
  constexpr double kMostSeconds = 1e6;
  const auto start = std::chrono::steady_clock::now();
  std::array<char, 4096> text{};
  const int error =
      pmix_.get(0, own_key(key).c_str(),
                static_cast<int>(std::ceil(std::clamp(timeout.count(), 1.0, kMostSeconds))),
                text.data(), text.size());
  if (error != 0 && std::chrono::steady_clock::now() - start >= timeout)
    throw DeadlineExceeded(
        fmt::format("rank {} waited {:.3g} s for rank 0's note by PMIx, until the deadline: {}",
                    rank_, timeout.count(), pmix_.explain(error)));
  check(error, "reading the note of rank 0");
  return text.data();
}

}  // namespace fanin
