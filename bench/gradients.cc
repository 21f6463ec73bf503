// Sums the gradients of ResNet-50 from several replicas, tensor by tensor, beside the machine's
// limit, and prints how near Fanin comes.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fanin_sum.h"
#include "memory.h"
#include "timing.h"

namespace bench {
namespace {

/// Elements of the 161 tensors that ResNet-50 trains, 25.6 million in all.
std::vector<std::size_t> resnet50_elements() {
  struct Stage {
    std::size_t width;
    int blocks;
  };
  std::vector<std::size_t> elements = {64 * 3 * 7 * 7, 64, 64};
  // A convolution comes with the scale and offset of its normalisation.
  const auto add_convolution = [&](std::size_t in, std::size_t out, std::size_t area) {
    elements.insert(elements.end(), {in * out * area, out, out});
  };
  std::size_t in = 64;
  for (const Stage& stage : {Stage{64, 3}, Stage{128, 4}, Stage{256, 6}, Stage{512, 3}})
    for (int block = 0; block < stage.blocks; ++block) {
      const std::size_t out = 4 * stage.width;
      add_convolution(in, stage.width, 1);
      add_convolution(stage.width, stage.width, 9);
      add_convolution(stage.width, out, 1);
      if (block == 0) add_convolution(in, out, 1);
      in = out;
    }
  elements.insert(elements.end(), {1000 * 2048, 1000});
  return elements;
}

/// Buffers of one replica (or of the result), one after the other, each on a 64-byte border.
class Replica {
 public:
  Replica(const std::vector<std::size_t>& bytes, std::size_t index) {
    std::size_t total = 0;
    for (const std::size_t size : bytes) {
      offsets_.push_back(total);
      total += size;
    }
    memory_ = std::make_unique<Mapping>(total, index % 16 * 4160);
    auto state = static_cast<std::uint32_t>(index + 1);
    for (std::size_t at = 0; at < total; at += sizeof(float)) {
      state = state * 1664525U + 1013904223U;
      const float value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-40F;
      std::memcpy(memory_->data() + at, &value, sizeof value);
    }
  }
  std::byte* tensor(std::size_t index) const { return memory_->data() + offsets_[index]; }

 private:
  std::vector<std::size_t> offsets_;
  std::unique_ptr<Mapping> memory_;
};

struct SizeClass {
  std::string_view name;
  std::size_t below_bytes;
};

constexpr std::array<SizeClass, 4> kClasses = {{{"below 16 KiB", 16 << 10},
                                                {"16 KiB to 256 KiB", 256 << 10},
                                                {"256 KiB to 2 MiB", 2 << 20},
                                                {"2 MiB and more", SIZE_MAX}}};

struct Line {
  std::string name;
  std::size_t count = 0;
  std::size_t moved_bytes = 0;
  double seconds = 0;
  double limit_seconds = 0;
  double ratio() const { return limit_seconds / seconds; }
};

void show_progress(int done, int all) {
  if (::isatty(STDERR_FILENO) == 0) return;
  constexpr int kWidth = 40;
  const int filled = done * kWidth / all;
  fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {}/{} rounds", "", filled, "", kWidth - filled, done,
             all);
  if (done == all) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

/// One size class: Fanin and each way of the limit walk its tensors, in turns.
class ClassTimer {
 public:
  ClassTimer(std::string_view name, std::vector<Sum> sums)
      : sums_(std::move(sums)), way_samples_(ways().size()) {
    line_.name = name;
    line_.count = sums_.size();
    for (const Sum& sum : sums_) {
      line_.moved_bytes += (sum.sources.size() + 1) * sum.bytes;
      fanin_sums_.emplace_back(sum);
    }
  }

  void run_round() {
    constexpr double kBudgetSeconds = 0.02;
    samples_.push_back(time_call(kBudgetSeconds, [&] {
      for (FaninSum& sum : fanin_sums_) sum.run();
    }));
    const TwoThreads second;
    for (std::size_t w = 0; w < ways().size(); ++w)
      way_samples_[w].push_back(time_call(kBudgetSeconds, [&] {
        for (const Sum& sum : sums_) ways()[w].run(sum);
      }));
  }

  Line line() const {
    Line line = line_;
    line.seconds = median(samples_);
    line.limit_seconds = median(way_samples_[0]);
    for (const auto& samples : way_samples_)
      line.limit_seconds = std::min(line.limit_seconds, median(samples));
    return line;
  }

 private:
  Line line_;
  std::vector<Sum> sums_;
  std::vector<FaninSum> fanin_sums_;
  std::vector<double> samples_;
  std::vector<std::vector<double>> way_samples_;
};

std::vector<Line> measure(std::size_t term_count, int round_count) {
  std::vector<std::size_t> bytes;
  for (const std::size_t elements : resnet50_elements())
    bytes.push_back((elements * sizeof(float) + 63) / 64 * 64);
  std::vector<std::unique_ptr<Replica>> replicas;
  for (std::size_t r = 0; r <= term_count; ++r)
    replicas.push_back(std::make_unique<Replica>(bytes, r));

  std::array<std::vector<Sum>, kClasses.size()> sums;
  for (std::size_t t = 0; t < bytes.size(); ++t) {
    std::size_t size_class = 0;
    while (bytes[t] >= kClasses[size_class].below_bytes) ++size_class;
    Sum sum{
        .type = Type::kFloat32, .sources = {}, .target = replicas[0]->tensor(t), .bytes = bytes[t]};
    for (std::size_t r = 1; r <= term_count; ++r) sum.sources.push_back(replicas[r]->tensor(t));
    sums[size_class].push_back(std::move(sum));
  }
  std::vector<ClassTimer> timers;
  for (std::size_t c = 0; c < kClasses.size(); ++c)
    timers.emplace_back(kClasses[c].name, std::move(sums[c]));

  for (int round = 0; round < round_count; ++round) {
    show_progress(round, round_count);
    for (ClassTimer& timer : timers) timer.run_round();
  }
  show_progress(round_count, round_count);

  std::vector<Line> lines;
  Line total{.name = "all"};
  for (const ClassTimer& timer : timers) {
    lines.push_back(timer.line());
    total.count += lines.back().count;
    total.moved_bytes += lines.back().moved_bytes;
    total.seconds += lines.back().seconds;
    total.limit_seconds += lines.back().limit_seconds;
  }
  lines.push_back(total);
  return lines;
}

void print_table(const std::vector<Line>& lines, std::size_t term_count) {
  fmt::print("{:20}{:>8}{:>12}{:>12}{:>8}{:>12}{:>8}\n", "tensors", "count", "MB moved", "time, us",
             "GB/s", "limit, us", "ratio");
  for (const Line& line : lines)
    fmt::print("{:20}{:>8}{:>12.2f}{:>12.1f}{:>8.1f}{:>12.1f}{:>8.2f}\n", line.name, line.count,
               static_cast<double>(line.moved_bytes) / 1e6, line.seconds * 1e6,
               static_cast<double>(line.moved_bytes) / line.seconds / 1e9, line.limit_seconds * 1e6,
               line.ratio());
  const Line& all = lines.back();
  fmt::print("ResNet-50, {} terms: {:.2f} ms, {:.2f} of the machine's limit\n", term_count,
             all.seconds * 1e3, all.ratio());
}

nlohmann::json to_json(const std::vector<Line>& lines) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Line& line : lines)
    rows.push_back({{"case", "gradients " + line.name},
                    {"unit", "us"},
                    {"placement", "none"},
                    {"fanin", line.seconds * 1e6},
                    {"limit", line.limit_seconds * 1e6},
                    {"ratio_to_limit", line.ratio()},
                    {"tensors", line.count},
                    {"bytes_moved", line.moved_bytes},
                    {"peers", nlohmann::json::object()}});
  return rows;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app("Sums the gradients of ResNet-50 (161 tensors, 25.6 M parameters, float32).");
  std::size_t term_count = 8;
  int round_count = 5;
  bool as_json = false;
  app.add_option("--terms", term_count, "replicas whose gradients are summed (100 MB each)")
      ->check(CLI::Range(2, 12))
      ->capture_default_str();
  app.add_option("--rounds", round_count, "how often all is measured")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--json", as_json, "print rows of JSON instead of a table");
  CLI11_PARSE(app, argc, argv);

  const std::vector<bench::Line> lines = bench::measure(term_count, round_count);
  if (as_json)
    fmt::print("{}\n", bench::to_json(lines).dump(1));
  else
    bench::print_table(lines, term_count);
  return 0;
}
