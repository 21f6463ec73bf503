#include "cli/compare/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "fanin/add_n.h"

namespace fanin::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Method = AggregationMethod;

struct OneSum {
  Tensor sum;
  double seconds = 0;
  std::size_t peak_bytes = 0;
};

OneSum sum_one(const GradientTerms& gradient, const Way& way) {
  const auto begin = Clock::now();
  Aggregator aggregator(static_cast<int>(gradient.terms.size()), way.method,
                        {.accumulation = way.accumulation});
  for (const Tensor& term : gradient.terms) aggregator.push(term);
  OneSum one{.sum = std::get<Tensor>(*aggregator.finish())};
  one.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  one.peak_bytes = aggregator.record().peak_bytes;
  return one;
}

void note_error(Measurement& measurement, const std::string& name, const Tensor& sum,
                const Tensor& exact) {
  const NumericalError error = measure_error(sum, exact);
  if (measurement.worst_gradient.empty() || error.max_ulps > measurement.error.max_ulps)
    measurement.worst_gradient = name;
  measurement.error = merge(measurement.error, error);
}

}  // namespace

std::string text_of(const Way& way) {
  std::string text(name(way.method));
  constexpr std::string_view kPrefix = "EXPERIMENTAL_";
  if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  if (way.accumulation != Accumulation::kWide) text += fmt::format(", {}", name(way.accumulation));
  return text;
}

std::vector<Way> ways_for(DType dtype) {
  std::vector<Way> ways;
  const bool is_half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  for (const Method method :
       {Method::kAddN, Method::kExperimentalTree, Method::kExperimentalAccumulateN}) {
    ways.push_back({method, Accumulation::kWide});
    if (is_half) ways.push_back({method, Accumulation::kNative});
  }
  if (is_floating(dtype)) ways.push_back({Method::kAddN, Accumulation::kExact});
  return ways;
}

std::vector<Measurement> measure_ways(const std::vector<GradientTerms>& gradients,
                                      const std::vector<Way>& ways, int rounds,
                                      const std::function<void(const Way&)>& on_step) {
  std::vector<Tensor> exact;
  exact.reserve(gradients.size());
  for (const GradientTerms& gradient : gradients)
    exact.push_back(add_n(gradient.terms, {.accumulation = Accumulation::kExact}));
  std::vector<Measurement> measurements(ways.size());
  std::vector<std::vector<double>> seconds(ways.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t w = 0; w < ways.size(); ++w) {
      on_step(ways[w]);
      Measurement& measurement = measurements[w];
      measurement.way = ways[w];
      double total = 0;
      for (std::size_t g = 0; g < gradients.size(); ++g) {
        const OneSum one = sum_one(gradients[g], ways[w]);
        total += one.seconds;
        measurement.peak_bytes = std::max(measurement.peak_bytes, one.peak_bytes);
        if (round == 0) note_error(measurement, gradients[g].name, one.sum, exact[g]);
      }
      seconds[w].push_back(total);
    }
  for (std::size_t w = 0; w < ways.size(); ++w) {
    std::ranges::sort(seconds[w]);
    measurements[w].seconds = seconds[w][seconds[w].size() / 2];
    measurements[w].least_seconds = seconds[w].front();
    measurements[w].most_seconds = seconds[w].back();
  }
  return measurements;
}

}  // namespace fanin::cli
