#include "kernels/fold.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <vector>

#include "kernels/fold_types.h"

namespace fanin {
namespace {

std::size_t last_cache_bytes() {
  const long bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : std::size_t{32} << 20;
}

}  // namespace

void fold(const Arithmetic& arithmetic, const Fold& fold) {
  assert(!fold.sources.empty() && !fold.targets.empty());
  if (fold.count == 0) return;
  if (is_floating(arithmetic.input))
    fold_floats(arithmetic, fold);
  else
    fold_integers(arithmetic, fold);
}

std::span<const std::uint8_t> add_n_groups(std::size_t count) {
  if (count <= 9) return {};
  thread_local std::vector<std::uint8_t> sizes;
  const std::size_t rest = count % 8;
  const std::size_t first = rest < 2 ? rest + 8 : rest;
  sizes.assign(1 + (count - first) / 8, 8);
  sizes[0] = static_cast<std::uint8_t>(first);
  return sizes;
}

void copy(std::span<std::byte> to, std::span<const std::byte> from, Store store) {
  assert(to.size() == from.size());
  if (store == Store::kCached) {
    if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  // A float64 sum of one source moves the bits as they are; what is left over is below 8 bytes.
  const std::size_t whole = to.size() / 8;
  const std::array<Operand, 1> source = {{{from.data()}}};
  const std::array<std::byte*, 1> target = {to.data()};
  fold(make_arithmetic(ReduceOp::kSum, DType::kFloat64, Accumulation::kWide, 1),
       {.sources = source, .targets = target, .count = whole, .store = Store::kStreaming});
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(whole * 8), from.end(),
            to.begin() + static_cast<std::ptrdiff_t>(whole * 8));
}

Store store_for(std::size_t bytes_moved) {
  static const std::size_t limit = last_cache_bytes();
  return bytes_moved > limit ? Store::kStreaming : Store::kCached;
}

}  // namespace fanin
