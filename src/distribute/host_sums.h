#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "distribute/lane.h"
#include "distribute/request.h"
#include "distribute/schedule_book.h"
#include "executor/memory_plan.h"

namespace fanin {

/// Short all-reduces between two hosts with several ranks each: of what the ranks of a host have,
/// only the sum crosses the wire, and every rank adds the two sums. The bits are those of the
/// request's schedule, which sums within hosts first.
class HostSums {
 public:
  /// Whether the request can go so: also, whether sums on the way are as what is summed.
  static bool fit(const Request& request, const Arithmetic& arithmetic, const Transport& transport);

  /// For a request that fits, of tensors of so many elements.
  HostSums(const Request& request, const Arithmetic& arithmetic, const Transport& transport,
           const std::vector<std::size_t>& counts, ScheduleBook& book, Context& context);

  /// What to say with the data.
  const std::shared_ptr<const HostSum>& of_this_host() const { return said_; }

  /// Puts the sums together, after all ranks have entered; false if the other host's has not come
  /// as one. `terms` is where the data of all ranks is, by rank and tensor; that of other hosts is
  /// not read. `offset` is where a rank's data is in its window.
  bool run(const Lane& lane, const Ticket& ticket, std::size_t offset,
           std::span<const std::byte* const> terms, std::span<std::byte* const> outputs);

 private:
  std::size_t tensor_count_;
  std::vector<std::size_t> offsets_;  // in bytes, of tensors that lie one after another
  std::vector<int> here_;             // the ranks of this host
  int there_;                         // the lowest of the other
  MemoryPlan within_;
  MemoryPlan across_;
  Buffer sum_;                           // of this host
  std::vector<const std::byte*> terms_;  // of this host, by rank and tensor
  std::vector<std::byte*> sums_;         // by tensor, in sum_
  std::vector<const std::byte*> hosts_;  // the sums, by host and tensor
  std::shared_ptr<const HostSum> said_;
};

}  // namespace fanin
