#include "aggregation/tree_fold.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/run_in_parts.h"
#include "kernels/parallel_fold.h"

namespace fanin {
namespace {

// A few blocks of terms and one partial sum for each level stay in L1 and L2.
constexpr std::size_t kBlock = 1024;

/// One thread's part of a tree: blocks one after the other, with a partial sum for each level.
class TreeBlocks {
 public:
  TreeBlocks(const Arithmetic& arithmetic, std::span<const Operand> terms, std::byte* target,
             Store store)
      : arithmetic_(arithmetic),
        terms_(terms),
        target_(target),
        store_(store),
        partial_bytes_(kBlock * arithmetic.size_of(Cell::kPartial)) {
    thread_local std::vector<std::byte> memory;
    const std::size_t needed =
        static_cast<std::size_t>(std::bit_width(terms.size())) * partial_bytes_ + kCacheLine;
    if (memory.size() < needed) memory.resize(needed);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    partials_ = memory.data() + (kCacheLine - address % kCacheLine);
  }

  void sum(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += kBlock) sum_block(at, std::min(kBlock, end - at));
  }

 private:
  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::size_t kMostSources = 66;  // two terms, and a partial sum for each bit

  std::byte* partial(int level) const {
    return partials_ + static_cast<std::size_t>(level) * partial_bytes_;
  }

  void sum_block(std::size_t at, std::size_t count) {
    const std::size_t last = (terms_.size() - 1) / 2 * 2;  // the last pair, or single term
    for (std::size_t leaf = 0; leaf < last; leaf += 2) {
      // The pair joins the partial sums of the levels that it completes.
      const int level = std::countr_one(leaf + 1);
      start(at, leaf, 2);
      for (int below = 1; below < level; ++below) add_partial(below);
      run(partial(level), Cell::kPartial, count, Store::kCached);
    }
    start(at, last, terms_.size() - last);
    for (int level = 1; last >> level != 0; ++level)
      if ((last >> level & 1U) != 0) add_partial(level);
    run(target_ + at * arithmetic_.size_of(Cell::kResult), Cell::kResult, count, store_);
  }

  void start(std::size_t at, std::size_t term, std::size_t term_count) {
    for (source_count_ = 0; source_count_ < term_count; ++source_count_) {
      const Operand& source = terms_[term + source_count_];
      sources_[source_count_] = {source.data + at * arithmetic_.size_of(source.cell), source.cell};
    }
  }
  void add_partial(int level) { sources_[source_count_++] = {partial(level), Cell::kPartial}; }

  void run(std::byte* target, Cell cell, std::size_t count, Store store) {
    std::byte* const targets[] = {target};
    fold(arithmetic_, {.sources = std::span(sources_).first(source_count_),
                       .targets = targets,
                       .target_cell = cell,
                       .count = count,
                       .store = store});
  }

  const Arithmetic& arithmetic_;
  std::span<const Operand> terms_;
  std::byte* target_;
  Store store_;
  std::size_t partial_bytes_;
  std::byte* partials_ = nullptr;
  std::array<Operand, kMostSources> sources_{};
  std::size_t source_count_ = 0;
};

}  // namespace

void tree_fold(Context& context, const Arithmetic& arithmetic, std::span<const Operand> terms,
               std::size_t element_count, std::byte* target) {
  if (element_count == 0) return;
  std::size_t cell_bytes = arithmetic.size_of(Cell::kResult);
  for (const Operand& term : terms) cell_bytes += arithmetic.size_of(term.cell);
  const std::size_t moved = element_count * cell_bytes;
  const Store store = store_for(moved);
  const auto sum = [&](std::size_t begin, std::size_t count) {
    TreeBlocks(arithmetic, terms, target, store).sum(begin, begin + count);
  };
  if (moved <= kOneThreadBytes)
    sum(0, element_count);
  else
    run_in_parts(context, element_count, sum);
}

}  // namespace fanin
