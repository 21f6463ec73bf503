#include "cli/plan/plan_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/bytes_text.h"
#include "report/bar_chart.h"
#include "report/page.h"

namespace fanin::cli {
namespace {

// More bars than this nobody reads; the table has them all.
constexpr std::size_t kMostBars = 40;

std::string first_name(const ReductionPlan& plan, const Pack& pack) {
  if (pack.pieces.empty()) return "";
  const std::string& name = plan.request.tensors[pack.pieces.front().tensor].name;
  if (pack.pieces.size() == 1) return name;
  return fmt::format("{} and {} more", name, pack.pieces.size() - 1);
}

std::string chart_of_packs(const ReductionPlan& plan) {
  std::vector<std::size_t> order(plan.packs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return plan.packs[i].pack.byte_count(); });
  order.resize(std::min(order.size(), kMostBars));
  std::ranges::sort(order);
  std::vector<Bar> bars;
  for (const std::size_t i : order) {
    const PlannedPack& each = plan.packs[i];
    const std::size_t bytes = each.pack.byte_count();
    bars.push_back({.label = fmt::format("{}: {}", i, each.algorithm),
                    .value = static_cast<double>(bytes),
                    .text = bytes_text(bytes),
                    .is_best = each.choice + 1 == plan.request.choices.size()});
  }
  return bar_chart(bars);
}

std::string chart_of_choices(const ReductionPlan& plan) {
  std::vector<std::string> legend;
  PartedBar packs{.label = "packs", .parts = {}};
  PartedBar bytes{.label = "bytes", .parts = {}};
  for (std::size_t choice = 0; choice < plan.request.choices.size(); ++choice) {
    legend.push_back(plan.request.choices[choice].algorithm);
    double count = 0;
    double size = 0;
    for (const PlannedPack& each : plan.packs) {
      if (each.choice != choice) continue;
      ++count;
      size += static_cast<double>(each.pack.byte_count());
    }
    packs.parts.push_back(count);
    bytes.parts.push_back(size);
  }
  return share_chart(legend, {packs, bytes});
}

PageTable table_of(const ReductionPlan& plan) {
  PageTable table{
      {"algorithm", "pack", "size", "dtype", "rounds", "busiest sends", "tensors", "why"}, {}};
  for (std::size_t i = 0; i < plan.packs.size(); ++i) {
    const PlannedPack& each = plan.packs[i];
    table.rows.push_back({each.algorithm, fmt::format("{}", i), bytes_text(each.pack.byte_count()),
                          std::string(name(each.pack.dtype)), fmt::format("{}", each.round_count),
                          bytes_text(each.most_sent_bytes), first_name(plan, each.pack),
                          each.reason});
  }
  return table;
}

}  // namespace

std::string to_page(const ReductionPlan& plan, const std::string& gradients,
                    const std::string& spec) {
  const Topology& topology = plan.request.topology;
  Page page(fmt::format("Plan: {} by {}", gradients, spec));
  page.add_paragraph(
      fmt::format("{} tensors travel in {} packs among {} workers with {} devices each.",
                  plan.request.tensors.size(), plan.packs.size(), topology.worker_count,
                  topology.devices_per_worker));
  for (const std::string& warning : plan.warnings) page.add_result("Warning: " + warning);
  for (const std::string& note : plan.notes) page.add_paragraph("Note: " + note);
  // A picture of more parts than colours would lie.
  if (plan.request.choices.size() <= 6)
    page.add_figure("Who takes how much", chart_of_choices(plan));
  page.add_figure(plan.packs.size() > kMostBars ? "The largest packs" : "The packs",
                  chart_of_packs(plan));
  page.add_heading("All packs");
  page.add_table(table_of(plan));
  return page.html();
}

}  // namespace fanin::cli
