#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "kernels/fold_types.h"
#include "kernels/groups.h"
#include "kernels/pass.h"

namespace fanin {
namespace {

// Elements whose partials stay in the nearest caches from pass to pass: shorter blocks are slower
// where the sources come from memory.
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = 4096;

static_assert(kMostNestedSources <= kMostPassSources);

std::uintptr_t address(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data); }

/// Partials of one block. They lie like the target modulo a page, so that reading them does not
/// slow streaming.
class Scratch {
 public:
  explicit Scratch(std::uintptr_t target)
      : begin_(bytes_ + (target + kLine - 1 - address(bytes_)) % kPage / kLine * kLine) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* begin() const { return begin_; }

 private:
  alignas(kLine) std::byte bytes_[kBlock * sizeof(double) + kPage];
  std::byte* begin_;
};

/// Where the fold begins to write to a target, and to read from a source.
std::uintptr_t begin_of_target(const Arithmetic& arithmetic, const Fold& fold, std::size_t index) {
  return address(fold.targets[index]) + fold.begin * arithmetic.size_of(fold.target_cell);
}

std::uintptr_t begin_of_source(const Arithmetic& arithmetic, const Fold& fold, std::size_t index) {
  const Operand& source = fold.sources[index];
  return address(source.data) + fold.begin * arithmetic.size_of(source.cell);
}

/// Whether an element of every target starts a cache line, the same one for all.
bool can_stream(const Arithmetic& arithmetic, const Fold& fold) {
  const std::uintptr_t past_line = begin_of_target(arithmetic, fold, 0) % kLine;
  if (past_line % arithmetic.size_of(fold.target_cell) != 0) return false;
  for (std::size_t t = 1; t < fold.targets.size(); ++t)
    if (begin_of_target(arithmetic, fold, t) % kLine != past_line) return false;
  return true;
}

/// A load that soon follows a streaming store with the same low 12 bits of the address waits for
/// it: 2.5 times slower, if a target lies 1 to 255 bytes ahead of a source modulo 4096.
bool slows_streaming(const Arithmetic& arithmetic, const Fold& fold) {
  for (std::size_t t = 0; t < fold.targets.size(); ++t)
    for (std::size_t s = 0; s < fold.sources.size(); ++s) {
      const std::uintptr_t ahead =
          (begin_of_target(arithmetic, fold, t) - begin_of_source(arithmetic, fold, s)) % kPage;
      if (ahead != 0 && ahead < 256) return true;
    }
  return false;
}

/// A fold as passes over memory. What fits in one pass is one; otherwise block by block, through
/// partials in the nearest caches, so that few streams of memory are open at a time.
class FloatFold {
 public:
  FloatFold(const Arithmetic& arithmetic, const Fold& fold)
      : arithmetic_(arithmetic),
        fold_(fold),
        run_pass_(runner_for(arithmetic.input)),
        target_size_(arithmetic.size_of(fold.target_cell)),
        cells_are_equal_(arithmetic.size_of(Cell::kInput) == arithmetic.size_of(Cell::kPartial)),
        may_stream_(fold.store == Store::kStreaming && can_stream(arithmetic, fold)),
        is_sum_(arithmetic.op == ReduceOp::kSum || arithmetic.op == ReduceOp::kMean),
        is_plain_sum_(is_sum_ && !arithmetic.rounds_each_step),
        stores_directly_(is_plain_sum_ && fold.targets.size() <= kMostPassTargets &&
                         !(may_stream_ && slows_streaming(arithmetic, fold))),
        sum_(begin_of_target(arithmetic, fold, 0)),
        group_(begin_of_target(arithmetic, fold, 0)) {}

  void run() {
    const std::size_t end = fold_.begin + fold_.count;
    if (!may_stream_) return run_range(fold_.begin, end);
    const std::size_t past_line = begin_of_target(arithmetic_, fold_, 0) % kLine;
    const std::size_t head = std::min(fold_.count, (kLine - past_line) % kLine / target_size_);
    run_range(fold_.begin, fold_.begin + head);
    streams_ = true;
    run_range(fold_.begin + head, end);
    hwy::FlushStream();
  }

 private:
  void run_range(std::size_t begin, std::size_t end) {
    if (!fold_.joins.empty()) return run_nested(begin, end, fold_.joins.data());
    if (runs_at_once(begin, end)) return;
    GroupWalk groups(fold_);
    const SourceRun first = groups.next();
    const bool is_one_pass = stores_directly_ &&
                             first.count == same_cells(first, kMostChainedSources) &&
                             first.count + joined_count(first, groups) == fold_.sources.size();
    if (!is_one_pass && stores_directly_ && !fold_.group_sizes.empty() &&
        fold_.sources.size() <= kMostNestedSources &&
        same_cells({.begin = 0, .count = fold_.sources.size(), .is_chained = false},
                   kMostNestedSources) == fold_.sources.size()) {
      std::array<std::uint8_t, kMostNestedSources> joins;
      write_joins(joins);
      return run_nested(begin, end, joins.data());
    }
    const std::size_t block = is_one_pass ? end - begin : kBlock;
    for (; begin < end; begin += block) run_block(begin, std::min(block, end - begin));
  }

  /// Short folds spend more time on finding their passes than in them: those that most are.
  bool runs_at_once(std::size_t begin, std::size_t end) {
    const std::size_t count = fold_.sources.size();
    if (!stores_directly_) return false;
    const bool is_chain =
        fold_.group_sizes.empty() &&
        count == same_cells({.begin = 0, .count = count, .is_chained = true}, kMostChainedSources);
    if (!is_chain && count_paired() != count) return false;
    begin_ = begin;
    count_ = end - begin;
    Pass pass = pass_over(0, count, is_chain ? Start::kFirstSource : Start::kPairs);
    store(pass, 0, fold_.targets.size());
    return true;
  }

  /// The groups as an expression in postfix.
  void write_joins(std::span<std::uint8_t> joins) const {
    std::size_t source = 0;
    for (const std::uint8_t size : fold_.group_sizes) {
      const bool is_first = source == 0;
      for (std::size_t i = 0; i < size; ++i) joins[source++] = i == 0 ? 0 : 1;
      if (!is_first) ++joins[source - 1];
    }
  }

  void run_nested(std::size_t begin, std::size_t end, const std::uint8_t* joins) {
    const std::size_t block = stores_directly_ ? end - begin : kBlock;
    for (; begin < end; begin += block) {
      begin_ = begin;
      count_ = std::min(block, end - begin);
      Pass pass = pass_over(0, fold_.sources.size(), Start::kNested);
      pass.joins = joins;
      send(pass, sum_, stores_directly_);
      if (!stores_directly_) finish();
    }
  }

  void run_block(std::size_t begin, std::size_t count) {
    begin_ = begin;
    count_ = count;
    GroupWalk groups(fold_);
    if (const std::size_t paired = count_paired(); paired > 0) {
      for (std::size_t pair = 0; pair < paired / 2; ++pair) groups.next();
      Pass pass = pass_over(0, paired, Start::kPairs);
      send(pass, sum_, stores_directly_ && groups.at_end());
    }
    while (!groups.at_end()) {
      const SourceRun run = groups.next();
      const std::size_t joined = joined_count(run, groups);
      if (joined > 0) groups.next();
      const bool stores = stores_directly_ && groups.at_end();
      if (joined > 0 && run.begin == 0) {
        Pass pass = pass_over(run.begin, run.count + joined, Start::kFirstSourceAndGroup);
        pass.apart_count = joined;
        send(pass, sum_, stores);
      } else if (run.is_chained) {
        chain(sum_, run, stores);
      } else if (run.count == same_cells(run, kMostChainedSources)) {
        Pass pass = pass_over(run.begin, run.count + joined,
                              joined > 0 ? Start::kTwoGroups : Start::kGroup);
        pass.apart_count = joined;
        pass.partial = sum_.begin();
        send(pass, sum_, stores);
      } else {
        chain(group_, run, false);
        Pass pass = empty_pass();
        pass.sources_are_partials = true;
        pass.source_count = 2;
        pass.sources = {sum_.begin(), group_.begin()};
        send(pass, sum_, stores);
      }
    }
    if (!stores_directly_) finish();
  }

  /// The size of the next group, if it can join the pass over `run`, or else 0. Where everything
  /// comes from memory one group at a time is faster, unless two are all there is.
  std::size_t joined_count(const SourceRun& run, GroupWalk groups) const {
    const bool may_join = is_plain_sum_ && !groups.at_end() &&
                          (run.begin == 0 || !run.is_chained) && run.count <= kMostChainedSources &&
                          (!streams_ || fold_.sources.size() <= kMostPassSources);
    if (!may_join) return 0;
    const SourceRun next = groups.next();
    const SourceRun both{.begin = run.begin, .count = run.count + next.count, .is_chained = false};
    const bool fits = next.count <= kMostSourcesApart && !next.is_chained &&
                      same_cells(both, kMostPassSources) == both.count;
    return fits ? next.count : 0;
  }

  /// How many of the first sources are two or more pairs, which one pass can take.
  std::size_t count_paired() const {
    if (!is_plain_sum_ || fold_.group_sizes.empty()) return 0;
    std::size_t paired = 0;
    for (GroupWalk groups(fold_); !groups.at_end() && paired + 2 <= kMostPassSources; paired += 2) {
      const SourceRun run = groups.next();
      if (run.count != 2 || (run.is_chained && run.begin > 0)) break;
    }
    const SourceRun all{.begin = 0, .count = paired, .is_chained = false};
    return paired >= 4 && same_cells(all, kMostPassSources) == paired ? paired : 0;
  }

  /// Folds a run one by one: after what `into` holds, or, if it begins a sum, from its first.
  void chain(Scratch& into, const SourceRun& run, bool stores) {
    const std::size_t end = run.begin + run.count;
    bool is_fresh = &into == &group_ || run.begin == 0;
    for (std::size_t i = run.begin; i < end; is_fresh = false) {
      const std::size_t count =
          same_cells({.begin = i, .count = end - i, .is_chained = true}, kMostChainedSources);
      Pass pass = pass_over(i, count, is_fresh ? Start::kFirstSource : Start::kPartial);
      if (!is_fresh) pass.partial = into.begin();
      i += count;
      send(pass, into, stores && i == end);
    }
  }

  /// How many sources of a run hold the same as its first, up to `most`.
  std::size_t same_cells(const SourceRun& run, std::size_t most) const {
    if (cells_are_equal_) return std::min(run.count, most);
    const Cell cell = fold_.sources[run.begin].cell;
    std::size_t same = 1;
    while (same < std::min(run.count, most) && fold_.sources[run.begin + same].cell == cell) ++same;
    return same;
  }

  Pass empty_pass() const {
    Pass pass;
    pass.op = is_sum_ ? ReduceOp::kSum : arithmetic_.op;
    pass.rounds_each_step = arithmetic_.rounds_each_step;
    pass.count = count_;
    return pass;
  }

  Pass pass_over(std::size_t first, std::size_t source_count, Start start) const {
    Pass pass = empty_pass();
    pass.start = start;
    pass.sources_are_partials = fold_.sources[first].cell == Cell::kPartial;
    pass.source_count = source_count;
    const std::size_t offset = begin_ * arithmetic_.size_of(fold_.sources[first].cell);
    for (std::size_t s = 0; s < source_count; ++s)
      pass.sources[s] = fold_.sources[first + s].data + offset;
    return pass;
  }

  /// Runs it into the targets or into scratch.
  void send(Pass& pass, const Scratch& scratch, bool stores) const {
    if (stores) return store(pass, 0, fold_.targets.size());
    pass.targets_are_partials = true;
    pass.target_count = 1;
    pass.targets[0] = scratch.begin();
    run_pass_(pass);
  }

  void store(Pass& pass, std::size_t first_target, std::size_t target_count) const {
    const bool is_result = fold_.target_cell == Cell::kResult;
    pass.targets_are_partials = !is_result;
    pass.divisor = is_result ? static_cast<double>(arithmetic_.divisor) : 1;
    pass.streams = streams_;
    pass.target_count = target_count;
    for (std::size_t t = 0; t < target_count; ++t)
      pass.targets[t] = fold_.targets[first_target + t] + begin_ * target_size_;
    run_pass_(pass);
  }

  /// Brings the sum from scratch to all targets.
  void finish() const {
    for (std::size_t t = 0; t < fold_.targets.size(); t += kMostPassTargets) {
      Pass pass;
      pass.count = count_;
      pass.start = Start::kPartial;
      pass.sources_are_partials = true;
      pass.partial = sum_.begin();
      store(pass, t, std::min(kMostPassTargets, fold_.targets.size() - t));
    }
  }

  const Arithmetic& arithmetic_;
  const Fold& fold_;
  const RunPass run_pass_;
  const std::size_t target_size_;
  const bool cells_are_equal_;  // inputs and partials are of one type
  const bool may_stream_;
  const bool is_sum_;
  const bool is_plain_sum_;
  const bool stores_directly_;
  bool streams_ = false;
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
  Scratch sum_;
  Scratch group_;
};

}  // namespace

bool streams_directly(const Arithmetic& arithmetic, const Fold& fold) {
  return is_floating(arithmetic.input) && can_stream(arithmetic, fold) &&
         !slows_streaming(arithmetic, fold);
}

void fold_floats(const Arithmetic& arithmetic, const Fold& fold) {
  FloatFold(arithmetic, fold).run();
}

}  // namespace fanin
