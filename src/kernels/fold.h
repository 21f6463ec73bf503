#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/arithmetic.h"

namespace fanin {

/// Where results go: through the cache, or past it to memory.
enum class Store : std::uint8_t { kCached, kStreaming };

/// Memory that is read. Any alignment.
struct Operand {
  const std::byte* data;
  Cell cell = Cell::kInput;  // kInput or kPartial
};

/// One n-ary operation, element by element: the sources come in groups; each group is folded from
/// left to right, then the groups are. All the targets get the same.
struct Fold {
  std::span<const Operand> sources = {};           // at least one
  std::span<const std::uint8_t> group_sizes = {};  // sum to sources.size(); empty: all of size 1
  std::span<const std::uint8_t> joins = {};        // instead of groups, see most_nested_sources
  std::span<std::byte* const> targets = {};        // at least one; any alignment
  Cell target_cell = Cell::kResult;                // kPartial or kResult (which finishes)
  std::size_t begin = 0;                           // the first element, of sources and targets
  std::size_t count = 0;                           // elements
  Store store = Store::kCached;
};

/// Runs it on this thread. A target may be the same memory as a source of cells of the same size;
/// otherwise targets overlap neither sources nor each other. Allocates nothing. The bits depend on
/// the expression and the inputs alone: not on alignment, count, store, or the machine's vectors
/// (the payload of a NaN excepted).
void fold(const Arithmetic& arithmetic, const Fold& fold);

/// How many sources a fold with `joins` may have, all of them inputs: kMostNestedSources, or 0 if
/// there can be none with this arithmetic. Joins are an expression in postfix: after each source,
/// how often the last two values become one. In the end there is one.
std::size_t most_nested_sources(const Arithmetic& arithmetic);
inline constexpr std::size_t kMostNestedSources = 17;

/// The group sizes of the ADD_N order over `count` sources, or none when that is a plain left fold
/// (up to 9). The memory is the thread's own, valid until its next call.
std::span<const std::uint8_t> add_n_groups(std::size_t count);

/// Copies bytes that do not overlap.
void copy(std::span<std::byte> to, std::span<const std::byte> from, Store store);

/// What adds cells of this arithmetic on this machine, for people: "AVX2, partial sums in float32".
std::string describe_kernel(const Arithmetic& arithmetic);

/// Bytes that a fold reads and writes.
std::size_t bytes_moved(const Arithmetic& arithmetic, const Fold& fold);

/// Whether streaming stores pay for an operation that moves this many bytes in all.
Store store_for(std::size_t bytes_moved);

/// The same for a fold, whose buffers may lie so that streaming pays earlier.
Store store_for(const Arithmetic& arithmetic, const Fold& fold);

}  // namespace fanin
