#pragma once

#include <cstddef>
#include <optional>

#include "kernels/arithmetic.h"
#include "kernels/pass.h"

namespace fanin {

/// A sum of a few floating-point inputs, one after the other, in one cached pass: what fold() would
/// do, found once. For short sums, which would take less time than finding it out again.
class ReadySum {
 public:
  /// None if fold() would need more than this.
  static std::optional<ReadySum> of(const Arithmetic& arithmetic, std::size_t source_count,
                                    std::size_t target_count);

  /// To be set before the first run; they stay.
  const std::byte*& source(std::size_t index) { return pass_.sources[index]; }
  std::byte*& target(std::size_t index) { return pass_.targets[index]; }

  void run(std::size_t element_count) {
    pass_.count = element_count;
    run_pass_(pass_);
  }

 private:
  ReadySum() = default;

  Pass pass_;
  RunPass run_pass_ = nullptr;
};

}  // namespace fanin
