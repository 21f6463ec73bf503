#include "cli/conformance/accumulation_fns.h"

#include <algorithm>

#include "core/require.h"
#include "core/visit_dtype.h"
#include "fanin/add_n.h"

namespace fanin::cli {
namespace {

using Numbers = std::span<const double>;

/// Element by element, in double: the numbers of the cases are small.
Tensor elementwise(std::span<const Tensor> terms, double (*combine)(Numbers)) {
  return visit_dtype(terms.front().dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    std::vector<std::vector<T>> columns;
    for (const Tensor& term : terms) columns.push_back(term.to_vector<T>());
    std::vector<T> result(terms.front().element_count());
    std::vector<double> numbers(terms.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      for (std::size_t t = 0; t < terms.size(); ++t) {
        if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
          numbers[t] = static_cast<float>(columns[t][i]);
        else
          numbers[t] = static_cast<double>(columns[t][i]);
      }
      if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
        result[i] = T(static_cast<float>(combine(numbers)));
      else
        result[i] = static_cast<T>(combine(numbers));
    }
    return Tensor::of<T>(std::span<const T>(result), terms.front().shape());
  });
}

double sum(Numbers numbers) {
  double total = 0;
  for (const double number : numbers) total += number;
  return total;
}

double weighted_sum(Numbers numbers) {
  double total = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) total += static_cast<double>(i + 1) * numbers[i];
  return total;
}

}  // namespace

std::function<Tensor(std::span<const Tensor>)> find_accumulation_fn(std::string_view name) {
  using Terms = std::span<const Tensor>;
  if (name == "add_n") return [](Terms terms) { return add_n(terms); };
  if (name == "first") return [](Terms terms) { return terms.front(); };
  if (name == "last") return [](Terms terms) { return terms.back(); };
  if (name == "weighted_sum") return [](Terms terms) { return elementwise(terms, weighted_sum); };
  if (name == "ten_times_add_n")
    return [](Terms terms) {
      return elementwise(terms, [](Numbers numbers) { return 10 * sum(numbers); });
    };
  if (name == "max")
    return [](Terms terms) {
      return elementwise(terms, [](Numbers numbers) { return std::ranges::max(numbers); });
    };
  throw InvalidArgument(ErrorKind::kBadFile,
                        fmt::format("there is no accumulation_fn \"{}\"", name));
}

}  // namespace fanin::cli
