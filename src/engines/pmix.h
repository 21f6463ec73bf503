#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "engines/pmix_table.h"

namespace fanin {

/// What a launcher that speaks PMIx tells this process, and a place where its ranks leave each
/// other notes. Every object has keys of its own: all ranks make as many, in the same order.
class Pmix {
 public:
  /// Loads the module. Throws Unavailable if it or a launcher is missing.
  explicit Pmix(const std::filesystem::path& modules);

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// How many of the ranks are on this host.
  int local_size() const { return local_size_; }

  /// Keeps `text` under `key` for all ranks.
  void put(std::string_view key, std::string_view text) const;

  /// What rank 0 keeps there. Waits for it; throws DeadlineExceeded after `timeout`.
  std::string get(std::string_view key, std::chrono::duration<double> timeout) const;

 private:
  std::string own_key(std::string_view key) const;
  void check(int error, std::string_view what) const;

  const FaninPmix& pmix_;
  int rank_ = 0;
  int size_ = 1;
  int local_size_ = 1;
  std::uint64_t number_ = 0;
};

}  // namespace fanin
