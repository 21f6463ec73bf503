#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "kernels/fold_types.h"
#include "kernels/groups.h"
#include "kernels/quotient.h"

namespace fanin {
namespace {

// Elements whose partials stay in the L1 cache.
constexpr std::size_t kIntegerBlock = 512;

template <typename T>
struct UnsignedOf : std::make_unsigned<T> {};
template <>
struct UnsignedOf<Int128> {
  using type = UInt128;
};

/// Unsigned and at least as wide as int: wraps, and is not promoted to a type that does not.
template <typename T>
using Wrapping = std::common_type_t<unsigned, typename UnsignedOf<T>::type>;

struct Add {
  template <typename T>
  static T combine(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

struct Multiply {
  template <typename T>
  static T combine(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

struct Smaller {
  template <typename T>
  static T combine(T a, T b) {
    return std::min(a, b);
  }
};

struct Larger {
  template <typename T>
  static T combine(T a, T b) {
    return std::max(a, b);
  }
};

/// Any alignment.
template <typename T>
T load(const std::byte* from, std::size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store(std::byte* to, std::size_t index, T value) {
  std::memcpy(to + index * sizeof(T), &value, sizeof(T));
}

template <typename Source, typename Partial, class Op>
void combine_block(Partial* into, const std::byte* from, std::size_t count, bool is_fresh) {
  // NOLINTBEGIN(bugprone-signed-char-misuse): int8 is a number here
  if (is_fresh) {
    for (std::size_t i = 0; i < count; ++i) into[i] = static_cast<Partial>(load<Source>(from, i));
  } else {
    for (std::size_t i = 0; i < count; ++i)
      into[i] = Op::combine(into[i], static_cast<Partial>(load<Source>(from, i)));
  }
  // NOLINTEND(bugprone-signed-char-misuse)
}

/// Folds block by block: sources one after the other into partials in the L1 cache.
template <typename Input, typename Partial, class Op>
class IntegerFold {
 public:
  IntegerFold(const Arithmetic& arithmetic, const Fold& fold)
      : arithmetic_(arithmetic), fold_(fold) {}

  void run() {
    for (std::size_t done = 0; done < fold_.count; done += kIntegerBlock)
      run_block(fold_.begin + done, std::min(kIntegerBlock, fold_.count - done));
  }

 private:
  void run_block(std::size_t begin, std::size_t count) {
    Partial sum[kIntegerBlock];
    GroupWalk groups(fold_);
    while (!groups.at_end()) {
      const SourceRun run = groups.next();
      if (run.is_chained) {
        chain(sum, run, begin, count, run.begin == 0);
        continue;
      }
      Partial group[kIntegerBlock];
      chain(group, run, begin, count, true);
      for (std::size_t i = 0; i < count; ++i) sum[i] = Op::combine(sum[i], group[i]);
    }
    for (std::byte* target : fold_.targets)
      finish(sum, target + begin * arithmetic_.size_of(fold_.target_cell), count);
  }

  void chain(Partial* into, const SourceRun& run, std::size_t begin, std::size_t count,
             bool is_fresh) const {
    for (const Operand& source : fold_.sources.subspan(run.begin, run.count)) {
      if (source.cell == Cell::kInput)
        combine_block<Input, Partial, Op>(into, source.data + begin * sizeof(Input), count,
                                          is_fresh);
      else
        combine_block<Partial, Partial, Op>(into, source.data + begin * sizeof(Partial), count,
                                            is_fresh);
      is_fresh = false;
    }
  }

  void finish(const Partial* sum, std::byte* to, std::size_t count) const {
    if (fold_.target_cell == Cell::kPartial || arithmetic_.op != ReduceOp::kMean)
      std::memcpy(to, sum, count * sizeof(Partial));
    else if (arithmetic_.result == DType::kFloat32)
      for (std::size_t i = 0; i < count; ++i)
        store(to, i, quotient_float32(sum[i], arithmetic_.divisor));
    else
      for (std::size_t i = 0; i < count; ++i)
        store(to, i, quotient_float64(sum[i], arithmetic_.divisor));
  }

  const Arithmetic& arithmetic_;
  const Fold& fold_;
};

template <typename Input>
void fold_integers_of(const Arithmetic& arithmetic, const Fold& fold) {
  // What wraps has the same bits, signed or not: one copy serves both.
  using Unsigned = std::make_unsigned_t<Input>;
  using Exact = std::conditional_t<sizeof(Input) == 8, Int128, std::int64_t>;
  switch (arithmetic.op) {
    case ReduceOp::kSum:
      return IntegerFold<Unsigned, Unsigned, Add>(arithmetic, fold).run();
    case ReduceOp::kProd:
      return IntegerFold<Unsigned, Unsigned, Multiply>(arithmetic, fold).run();
    case ReduceOp::kMin:
      return IntegerFold<Input, Input, Smaller>(arithmetic, fold).run();
    case ReduceOp::kMax:
      return IntegerFold<Input, Input, Larger>(arithmetic, fold).run();
    case ReduceOp::kMean:
      return IntegerFold<Input, Exact, Add>(arithmetic, fold).run();
  }
}

}  // namespace

void fold_integers(const Arithmetic& arithmetic, const Fold& fold) {
  switch (arithmetic.input) {
    case DType::kInt8:
      return fold_integers_of<std::int8_t>(arithmetic, fold);
    case DType::kInt16:
      return fold_integers_of<std::int16_t>(arithmetic, fold);
    case DType::kInt32:
      return fold_integers_of<std::int32_t>(arithmetic, fold);
    case DType::kInt64:
      return fold_integers_of<std::int64_t>(arithmetic, fold);
    case DType::kUInt8:
      return fold_integers_of<std::uint8_t>(arithmetic, fold);
    case DType::kUInt16:
      return fold_integers_of<std::uint16_t>(arithmetic, fold);
    case DType::kUInt32:
      return fold_integers_of<std::uint32_t>(arithmetic, fold);
    case DType::kUInt64:
      return fold_integers_of<std::uint64_t>(arithmetic, fold);
    default:
      throw std::logic_error("not an integer type");
  }
}

}  // namespace fanin
