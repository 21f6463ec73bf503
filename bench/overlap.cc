// One rank of Fanin in ./bench/run overlap: joins the group that its environment describes, and
// sums gradients while a backward pass goes on.

#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "backward.h"
#include "fanin/automatic_packing.h"
#include "fanin/group.h"
#include "fanin/join.h"
#include "fanin/plan.h"
#include "gradient_list.h"
#include "memory_of_steps.h"
#include "rank.h"
#include "resident_memory.h"
#include "run_server.h"
#include "start_line.h"
#include "timing.h"

namespace bench {
namespace {

/// What is timed: "compute" the backward pass alone, "communicate:PACK" the sums of gradients that
/// are all there, "step:PACK" both at once, "traced:PACK" the same with a trace. PACK is the most
/// bytes of a pack; 0 is everything in one.
struct Part {
  std::string kind;
  std::int64_t bytes_per_pack = 0;

  bool sums() const { return kind != "compute"; }
};

Part parse_part(const std::string& word) {
  const std::size_t colon = word.find(':');
  Part part{.kind = word.substr(0, colon)};
  if (part.kind != "compute" && part.kind != "communicate" && part.kind != "step" &&
      part.kind != "traced")
    throw std::invalid_argument("\"" + word + "\" is no part of a step");
  if (part.sums()) part.bytes_per_pack = std::stoll(word.substr(colon + 1));
  return part;
}

/// Answers "list FILE" (the file holds the number of elements of each gradient), "choose" with the
/// automatic size of packs, "calibrate SECONDS" with the sweeps that take so long on all ranks at
/// once, and "run BACKWARD AMOUNT ITERATIONS PART..." with the seconds of each part.
class OverlapRank {
 public:
  OverlapRank(const Seat& seat, fanin::Group& group, const ResidentMemory& before)
      : seat_(seat), group_(group), before_(before) {}

  std::string answer(std::istringstream& words) {
    std::string verb;
    words >> verb;
    if (verb == "list") return make_list(words);
    if (verb == "choose") return choose();
    if (verb == "calibrate") return calibrate(words);
    if (verb == "run") return run(words);
    if (verb == "memory") return take_steps(words);
    throw std::invalid_argument("\"" + verb + "\" is no request");
  }

 private:
  std::string make_list(std::istringstream& words) {
    std::string path;
    words >> path;
    plans_.clear();
    list_.reset();  // the old memory goes before the new comes
    list_ = std::make_unique<GradientList>(group_, read_counts(path));
    return "{\"bytes\": " + std::to_string(list_->byte_count()) + "}";
  }

  std::string choose() {
    const fanin::PackCost cost = fanin::measure_pack_cost(group_);
    const auto packing = fanin::choose_packing(list_->byte_count(), cost);
    std::ostringstream text;
    text << "{\"bytes_per_pack\": " << packing.bytes_per_pack << ", \"seconds\": " << cost.seconds
         << ", \"seconds_per_byte\": " << cost.seconds_per_byte << "}";
    return text.str();
  }

  std::string calibrate(std::istringstream& words) {
    double seconds = 0;
    words >> seconds;
    wait_at_start();
    return "{\"sweeps\": " + to_json({sweeps_in(seconds)}) + "}";
  }

  std::string run(std::istringstream& words) {
    std::string kind;
    double amount = 0;
    int iterations = 0;
    words >> kind >> amount >> iterations;
    std::vector<Part> parts;
    for (std::string word; words >> word;) parts.push_back(parse_part(word));
    const std::unique_ptr<Backward> backward = make_backward(kind, amount);
    std::vector<std::vector<double>> seconds(parts.size());
    for (int iteration = 0; iteration < iterations; ++iteration)
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t at = (i + static_cast<std::size_t>(iteration)) % parts.size();
        seconds[at].push_back(time(parts[at], *backward, iteration));
        if (iteration + 1 == iterations && parts[at].sums())
          check_sums(list_->spans(), seat_.size, iteration);
      }
    std::string text;
    for (const std::vector<double>& each : seconds)
      text += (text.empty() ? "" : ", ") + to_json(each);
    return "{\"seconds\": [" + text + "]}";
  }

  double time(const Part& part, Backward& backward, int iteration) {
    rewrite(list_->spans(), seat_.rank, iteration);
    fanin::Plan* const plan = part.sums() ? &plan_of(part.bytes_per_pack) : nullptr;
    wait_at_start();
    const double begin = now_seconds();
    const double end = plan == nullptr ? compute(backward) : reduce(part, *plan, backward);
    if (part.kind == "traced") trace_.take();
    return end - begin;
  }

  double compute(Backward& backward) {
    backward.begin();
    for (std::size_t i = list_->size(); i-- > 0;) backward.go_on_until(list_->share_with(i));
    return now_seconds();
  }

  double reduce(const Part& part, fanin::Plan& plan, Backward& backward) {
    fanin::ReductionOptions options;
    if (part.kind == "traced") {
      options.plan_track = plan_track_;
      options.caller_track = caller_track_;
    }
    fanin::Reduction sums = plan.start(list_->outputs(), options);
    backward.begin();
    for (std::size_t i = list_->size(); i-- > 0;) {
      if (part.kind != "communicate") backward.go_on_until(list_->share_with(i));
      sums.push(i, list_->gradient(i));
    }
    sums.finish();
    return now_seconds();
  }

  fanin::Plan& plan_of(std::int64_t bytes_per_pack) {
    const auto found = plans_.find(bytes_per_pack);
    if (found != plans_.end()) return found->second;
    return plans_.try_emplace(bytes_per_pack, list_->plan(group_, bytes_per_pack), group_)
        .first->second;
  }

  std::string take_steps(std::istringstream& words) {
    std::string optimizer;
    std::string path;
    words >> optimizer >> path;
    const MemoryOfSteps memory =
        measure_memory_of_steps(group_, read_counts(path), optimizer, before_);
    std::ostringstream text;
    text << "{\"grown_bytes\": " << memory.grown_bytes
         << ", \"needed_bytes\": " << memory.needed_bytes << "}";
    return text.str();
  }

  void wait_at_start() {
    bench_wait_at_start(seat_.shared.data(), ++round_, seat_.rank, seat_.size,
                        seat_.size > seat_.core_count ? 1 : 0);
  }

  const Seat& seat_;
  fanin::Group& group_;
  const ResidentMemory before_;
  std::unique_ptr<GradientList> list_;
  std::map<std::int64_t, fanin::Plan> plans_;  // by the bytes of a pack
  fanin::Trace trace_;
  fanin::TraceTrack* const plan_track_ = trace_.add_track("communication");
  fanin::TraceTrack* const caller_track_ = trace_.add_track("backward");
  std::uint64_t round_ = 0;
};

void serve() {
  const Seat seat = take_seat();
  forget_peak();
  const ResidentMemory before = resident_memory();
  fanin::Group group = fanin::join(fanin::JoinOptions::from_environment());
  OverlapRank rank(seat, group, before);
  serve_lines(seat, std::string(group.transport()),
              [&rank](std::istringstream& words) { return rank.answer(words); });
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_overlap", bench::serve); }
