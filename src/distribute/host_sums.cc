#include "distribute/host_sums.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "engines/host_ranks.h"

namespace fanin {
namespace {

constexpr const char* kWithin = "direct";
constexpr const char* kAcross = "recursive_doubling";
constexpr const char* kWhole = "direct//recursive_doubling";

/// The ranks of this host and those of the only other one; none if there is none, or more than one.
struct TwoHosts {
  std::vector<int> here = {};
  std::vector<int> there = {};

  static TwoHosts of(const Transport& transport) {
    std::vector<std::vector<int>> hosts = ranks_by_host(transport.hosts());
    if (hosts.size() != 2) return {};
    if (!std::ranges::binary_search(hosts.front(), transport.rank())) std::ranges::reverse(hosts);
    return {std::move(hosts.front()), std::move(hosts.back())};
  }
};

/// A mean is divided when all is summed.
Arithmetic within_host(const Request& request, std::size_t rank_count) {
  return make_arithmetic(request.op == ReduceOp::kMean ? ReduceOp::kSum : request.op,
                         request.items.front().dtype, request.accumulation,
                         static_cast<std::int64_t>(rank_count));
}

MemoryPlan make_plan(ScheduleBook& book, const char* algorithm, std::size_t rank_count,
                     const std::vector<std::size_t>& counts, const Arithmetic& arithmetic,
                     Context& context) {
  const auto proved =
      book.find(algorithm, std::vector<int>(rank_count, 0), Goal::kAllReduce, std::nullopt);
  const Layout layout(counts, proved->schedule().chunk_count, arithmetic.size_of(Cell::kInput));
  return {
      std::array{MemoryPart{&proved->schedule(), layout,
                            &proved->memory(Outputs::kShared, most_nested_sources(arithmetic))}},
      arithmetic, Outputs::kShared, context};
}

}  // namespace

bool HostSums::fit(const Request& request, const Arithmetic& arithmetic,
                   const Transport& transport) {
  const TwoHosts hosts = TwoHosts::of(transport);
  return request.operation == Request::Operation::kAllReduce && request.algorithm == kWhole &&
         hosts.here.size() > 1 && hosts.here.size() == hosts.there.size() &&
         arithmetic.result == arithmetic.input && !arithmetic.is_exact &&
         !arithmetic.rounds_each_step &&
         arithmetic.size_of(Cell::kPartial) == arithmetic.size_of(Cell::kInput);
}

HostSums::HostSums(const Request& request, const Arithmetic& arithmetic, const Transport& transport,
                   const std::vector<std::size_t>& counts, ScheduleBook& book, Context& context)
    : tensor_count_(counts.size()),
      offsets_(counts.size()),
      here_(TwoHosts::of(transport).here),
      there_(TwoHosts::of(transport).there.front()),
      within_(make_plan(book, kWithin, here_.size(), counts, within_host(request, here_.size()),
                        context)),
      across_(make_plan(book, kAcross, 2, counts, arithmetic, context)),
      terms_(here_.size() * counts.size()),
      sums_(counts.size()),
      hosts_(2 * counts.size()) {
  const std::size_t element_bytes = arithmetic.size_of(Cell::kInput);
  const std::size_t count = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  sum_ = context.buffers().allocate(count * element_bytes);
  std::exclusive_scan(counts.begin(), counts.end(), offsets_.begin(), std::size_t{0});
  for (std::size_t& offset : offsets_) offset *= element_bytes;
  for (std::size_t tensor = 0; tensor < tensor_count_; ++tensor)
    sums_[tensor] = sum_.bytes().data() + offsets_[tensor];
  // Whoever relays it may do so while this rank runs, so it has a plan of its own; tensors lie one
  // after another in what ranks say.
  const auto plan = std::make_shared<MemoryPlan>(
      make_plan(book, kWithin, here_.size(), {count}, within_host(request, here_.size()), context));
  said_ = std::make_shared<const HostSum>(
      [plan, count](std::span<const std::byte* const> terms, std::byte* sum) {
        plan->run_here(0, count, terms, std::array{sum}, Store::kCached);
      });
}

bool HostSums::run(const Lane& lane, const Ticket& ticket, std::size_t offset,
                   std::span<const std::byte* const> terms, std::span<std::byte* const> outputs) {
  const std::byte* const theirs = lane.find_sum(there_, ticket, offset);
  if (theirs == nullptr) return false;
  for (std::size_t i = 0; i < here_.size(); ++i)
    std::ranges::copy(
        terms.subspan(static_cast<std::size_t>(here_[i]) * tensor_count_, tensor_count_),
        &terms_[i * tensor_count_]);
  within_.run_here(0, within_.element_count(), terms_, sums_, Store::kCached);
  const bool is_first = here_.front() < there_;
  for (std::size_t tensor = 0; tensor < tensor_count_; ++tensor) {
    hosts_[(is_first ? 0 : tensor_count_) + tensor] = sums_[tensor];
    hosts_[(is_first ? tensor_count_ : 0) + tensor] = theirs + offsets_[tensor];
  }
  across_.run_here(0, across_.element_count(), hosts_, outputs, Store::kCached);
  return true;
}

}  // namespace fanin
