#include "fanin/price.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/collective_options.h"
#include "cli/commands.h"
#include "cli/units.h"
#include "core/require.h"

namespace fanin::cli {
namespace {

struct PriceArguments {
  CollectiveArguments collective;
  std::string bytes;
  double latency_us = 0;
  double gigabits_per_second = 0;
  int block_count = 1;
  bool as_json = false;

  LinkModel link() const {
    require(std::isfinite(latency_us) && latency_us >= 0, ErrorKind::kBadOption,
            "--latency-us {} cannot be; a latency is 0 or more microseconds", latency_us);
    require(std::isfinite(gigabits_per_second) && gigabits_per_second > 0, ErrorKind::kBadOption,
            "--gbps {} cannot be; a bandwidth is more than 0 gigabits a second",
            gigabits_per_second);
    return {.latency_seconds = latency_us * 1e-6,
            .bytes_per_second = gigabits_per_second * 1e9 / 8};
  }
};

struct NamedPrice {
  std::string name;
  Price price;
};

/// A schedule's list of steps is quadratic in the ranks, and so is the time to price it.
constexpr int kMostRanks = 512;

/// Of the algorithm that is named, or of all in the table, the best first.
std::vector<NamedPrice> find_prices(const PriceArguments& arguments) {
  const LinkModel link = arguments.link();
  const std::size_t bytes = parse_bytes(arguments.bytes);
  check(arguments.collective.topology);
  require(arguments.collective.topology.rank_count() <= kMostRanks, ErrorKind::kBadOption,
          "{} ranks are too many to price; the most are {}",
          arguments.collective.topology.rank_count(), kMostRanks);
  std::vector<std::string> names = {arguments.collective.algorithm};
  if (names.front().empty()) {
    names.clear();
    for (const Algorithm& algorithm : algorithms()) names.emplace_back(algorithm.name);
  }
  std::vector<NamedPrice> prices;
  for (const std::string& name : names) {
    CollectiveArguments each = arguments.collective;
    each.algorithm = name;
    const Schedule schedule = each.build();
    prices.push_back({schedule.name, price(schedule, bytes, link, arguments.block_count)});
  }
  std::ranges::stable_sort(prices, {}, [](const NamedPrice& each) { return each.price.seconds; });
  return prices;
}

std::string bytes_text_of(double bytes) {
  return bytes_text(static_cast<std::size_t>(std::llround(bytes)));
}

double latency_share(const Price& price, const LinkModel& link) {
  return price.seconds > 0 ? price.latency_seconds(link) / price.seconds : 0;
}

void print_for_people(const PriceArguments& arguments, const std::vector<NamedPrice>& prices) {
  const int ranks = arguments.collective.topology.rank_count();
  fmt::print("{} of {} among {} {}, links of {:g} us and {:g} gigabits a second\n\n",
             arguments.collective.goal, bytes_text(parse_bytes(arguments.bytes)), ranks,
             ranks == 1 ? "rank" : "ranks", arguments.latency_us, arguments.gigabits_per_second);
  fmt::print("{:<20} {:>10} {:>14} {:>6} {:>10} {:>14} {:>14}\n", "algorithm", "time",
             "latency share", "hops", "messages", "busiest sends", "busiest gets");
  for (const auto& [name, price] : prices)
    fmt::print("{:<20} {:>10} {:>13.1f}% {:>6} {:>10} {:>14} {:>14}\n", name,
               seconds_text(price.seconds), 100 * latency_share(price, arguments.link()),
               price.hop_count, price.message_count, bytes_text_of(price.most_sent_bytes),
               bytes_text_of(price.most_received_bytes));
}

void print_for_scripts(const PriceArguments& arguments, const std::vector<NamedPrice>& prices) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [name, price] : prices)
    list.push_back({{"algorithm", name},
                    {"seconds", price.seconds},
                    {"latency_share", latency_share(price, arguments.link())},
                    {"hops", price.hop_count},
                    {"messages", price.message_count},
                    {"most_sent_bytes", price.most_sent_bytes},
                    {"most_received_bytes", price.most_received_bytes}});
  const LinkModel link = arguments.link();
  const nlohmann::ordered_json json = {
      {"goal", arguments.collective.goal},
      {"ranks", arguments.collective.topology.rank_count()},
      {"bytes", parse_bytes(arguments.bytes)},
      {"blocks", arguments.block_count},
      {"link",
       {{"latency_seconds", link.latency_seconds}, {"bytes_per_second", link.bytes_per_second}}},
      {"prices", list}};
  fmt::print("{}\n", json.dump());
}

}  // namespace

void add_price(Command tool, ExitCode& /*exit_code*/) {
  auto arguments = std::make_shared<PriceArguments>();
  Command command = tool.add_subcommand(
      "price", "Simulate what an algorithm costs on a network, without moving a byte");
  add_collective_options(command, arguments->collective,
                         "Name of the algorithm; without it all are priced, the best first")
      .required(false);
  command.add_option("--bytes", arguments->bytes, "Size of the data: 1000, 64K, 1.5G").required();
  command.add_option("--latency-us", arguments->latency_us, "Latency of a link in microseconds")
      .required();
  command
      .add_option("--gbps", arguments->gigabits_per_second,
                  "Bandwidth of a link, each way, in gigabits (not bytes) a second")
      .required();
  command
      .add_option("--blocks", arguments->block_count,
                  "Cut each chunk into this many that follow each other")
      .with_default();
  command.add_flag("--json", arguments->as_json, "One JSON object for scripts");
  command.footer(list_algorithms() +
                 "\nExample: fanin price --workers 8 --bytes 64M --latency-us 10 --gbps 100");
  command.callback([arguments] {
    const std::vector<NamedPrice> prices = find_prices(*arguments);
    if (arguments->as_json)
      print_for_scripts(*arguments, prices);
    else
      print_for_people(*arguments, prices);
  });
}

}  // namespace fanin::cli
