#include "kernels/fold.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <hwy/targets.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstring>
#include <system_error>
#include <vector>

#include "core/add_n_order.h"
#include "kernels/fold_types.h"
#include "kernels/pass.h"

namespace fanin {
namespace {

/// By the kernel's own account, such as "32768K": sysconf() multiplies by cores on some machines.
std::size_t read_last_cache_bytes() {
  constexpr std::size_t kUsual = std::size_t{32} << 20;
  const int file = ::open("/sys/devices/system/cpu/cpu0/cache/index3/size", O_RDONLY | O_CLOEXEC);
  if (file < 0) return kUsual;
  std::array<char, 32> text{};
  const ssize_t length = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  std::size_t kibibytes = 0;
  const char* const end = text.data() + std::max<ssize_t>(length, 0);
  const auto [rest, error] = std::from_chars(text.data(), end, kibibytes);
  const bool is_readable = error == std::errc() && rest != end && *rest == 'K' && kibibytes > 0;
  return is_readable ? kibibytes << 10 : kUsual;
}

std::size_t last_cache_bytes() {
  static const std::size_t bytes = read_last_cache_bytes();
  return bytes;
}

}  // namespace

void fold(const Arithmetic& arithmetic, const Fold& fold) {
  assert(!fold.sources.empty() && !fold.targets.empty() && !arithmetic.is_exact);
  assert(fold.joins.empty() || fold.sources.size() <= most_nested_sources(arithmetic));
  if (fold.count == 0) return;
  if (is_floating(arithmetic.input))
    fold_floats(arithmetic, fold);
  else
    fold_integers(arithmetic, fold);
}

std::size_t most_nested_sources(const Arithmetic& arithmetic) {
  const bool is_sum = arithmetic.op == ReduceOp::kSum || arithmetic.op == ReduceOp::kMean;
  const bool can_nest = is_floating(arithmetic.input) && is_sum && !arithmetic.rounds_each_step;
  return can_nest ? kMostNestedSources : 0;
}

std::span<const std::uint8_t> add_n_groups(std::size_t count) {
  thread_local std::vector<std::uint8_t> sizes;
  assign_add_n_groups(count, sizes);
  return sizes;
}

void copy(std::span<std::byte> to, std::span<const std::byte> from, Store store) {
  assert(to.size() == from.size());
  // memcpy is slow where another core has just written the lines: it moves long pieces by a string
  // instruction, which waits for each.
  constexpr std::size_t kShort = 512;
  if (store == Store::kCached && to.size() <= kShort) {
    if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  // A float64 sum of one source moves the bits as they are; what is left over is below 8 bytes.
  const std::size_t whole = to.size() / 8;
  if (store == Store::kCached) {
    Pass pass;
    pass.source_count = pass.target_count = 1;
    pass.count = whole;
    pass.sources[0] = from.data();
    pass.targets[0] = to.data();
    run_pass_float64(pass);
  } else {
    const std::array<Operand, 1> source = {{{from.data()}}};
    const std::array<std::byte*, 1> target = {to.data()};
    fold(make_arithmetic(ReduceOp::kSum, DType::kFloat64, Accumulation::kWide, 1),
         {.sources = source, .targets = target, .count = whole, .store = store});
  }
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(whole * 8), from.end(),
            to.begin() + static_cast<std::ptrdiff_t>(whole * 8));
}

Store store_for(std::size_t bytes_moved) {
  return bytes_moved > last_cache_bytes() ? Store::kStreaming : Store::kCached;
}

Store store_for(const Arithmetic& arithmetic, const Fold& fold) {
  const std::size_t bytes = bytes_moved(arithmetic, fold);
  // From half of the cache on it is faster not to fetch lines that are only written.
  if (bytes <= last_cache_bytes() / 2) return Store::kCached;
  return streams_directly(arithmetic, fold) ? Store::kStreaming : store_for(bytes);
}

std::string describe_kernel(const Arithmetic& arithmetic) {
  static constexpr std::array<std::string_view, 11> kPartialNames = {
      "float32", "float64", "int8",   "int16",  "int32",           "int64",
      "uint8",   "uint16",  "uint32", "uint64", "128-bit integers"};
  if (!is_floating(arithmetic.input))
    return fmt::format("integer loops, partial sums in {}",
                       kPartialNames[static_cast<std::size_t>(arithmetic.partial)]);
  // Highway's better targets have the lower bits.
  const std::int64_t usable = hwy::SupportedTargets() & pass_targets();
  return fmt::format("{}, partial sums in {}{}", hwy::TargetName(usable & -usable),
                     kPartialNames[static_cast<std::size_t>(arithmetic.partial)],
                     arithmetic.rounds_each_step ? ", rounded at each step" : "");
}

std::size_t bytes_moved(const Arithmetic& arithmetic, const Fold& fold) {
  std::size_t cell_bytes = fold.targets.size() * arithmetic.size_of(fold.target_cell);
  for (const Operand& source : fold.sources) cell_bytes += arithmetic.size_of(source.cell);
  return cell_bytes * fold.count;
}

}  // namespace fanin
