#include "fanin/group.h"

#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/require.h"
#include "distribute/call_line.h"
#include "executor/window_plan.h"
#include "fanin/algorithms.h"
#include "fanin/context.h"
#include "transports/transport.h"

namespace fanin {
namespace {

// Plans that are kept for the next call with the same arguments.
constexpr std::size_t kMostPlans = 1024;

void check_output(const Tensor& input, const TensorView& out, DType dtype) {
  require(out.dtype == dtype, ErrorKind::kDtypeMismatch,
          "the output of the all-reduce is {}, but its result is {}", name(out.dtype), name(dtype));
  require(out.shape == input.shape(), ErrorKind::kShapeMismatch,
          "the output of the all-reduce has shape {}, but the input has {}", to_string(out.shape),
          to_string(input.shape()));
  require(out.bytes.size() == out.shape.element_count() * size_of(dtype), ErrorKind::kShapeMismatch,
          "the output of shape {} has {} bytes instead of {}", to_string(out.shape),
          out.bytes.size(), out.shape.element_count() * size_of(dtype));
}

/// Same memory is fine where cells have the same size; anything else would be read after it was
/// written.
void check_overlap(const Tensor& input, const TensorView& out) {
  const std::span<const std::byte> in = input.bytes();
  const bool apart = std::less_equal<>{}(in.data() + in.size(), out.bytes.data()) ||
                     std::less_equal<>{}(out.bytes.data() + out.bytes.size(), in.data());
  const bool same = in.data() == out.bytes.data() && in.size() == out.bytes.size();
  require(apart || same, ErrorKind::kBadOption,
          "the output of the all-reduce overlaps its input; use the same memory or other memory");
}

}  // namespace

class Group::State {
 public:
  State(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout)
      : transport_(std::move(transport)),
        timeout_(timeout),
        lines_(static_cast<std::size_t>(transport_->size())) {}

  const Transport& transport() const { return *transport_; }

  void all_reduce(const Tensor& input, const TensorView& out, const AllReduceOptions& options) {
    check_alive();
    check(options.op);
    check(options.accumulation);
    require(options.accumulation != Accumulation::kExact, ErrorKind::kBadOption,
            "accumulation exact is not for an all-reduce, whose partial sums travel rounded; use "
            "wide or native");
    const std::string algorithm = canonical_algorithm(options.algorithm);
    const Arithmetic arithmetic =
        make_arithmetic(options.op, input.dtype(), options.accumulation, transport_->size());
    check_output(input, out, arithmetic.result);
    check_overlap(input, out);
    const Deadline deadline = deadline_of(options.timeout);

    const CallLine line = make_call_line(sequence_ + 1, input, options);
    fail_for_good_if_thrown([&] { enter(line, deadline); });
    check_same(lines_);
    fail_for_good_if_thrown([&] {
      const std::byte* const from = input.bytes().data();
      std::byte* const to = out.bytes.data();
      plan_for(algorithm, arithmetic, input.element_count())
          .run(*transport_, wave_base_, {&from, 1}, {&to, 1}, deadline, describe(line));
    });
  }

  void barrier() {
    check_alive();
    CallLine line;
    line.sequence = sequence_ + 1;
    fail_for_good_if_thrown([&] { enter(line, deadline_after(timeout_)); });
    check_same(lines_);
  }

 private:
  using PlanKey = std::tuple<std::string, ReduceOp, DType, bool, std::size_t>;

  /// Writes this rank's call line and returns when all ranks are in the operation, with their lines
  /// in lines_. Whoever is in operation k has left operation k - 1, so from here on the windows are
  /// free. Lines alternate between two halves: nobody writes line k + 2 before all have read line
  /// k.
  void enter(const CallLine& line, Deadline deadline) {
    const std::size_t half = line.sequence % 2 * sizeof line;
    std::memcpy(transport_->call_line(transport_->rank()).data() + half, &line, sizeof line);
    sequence_ = line.sequence;
    transport_->publish(Transport::kCallFlag, sequence_);
    for (int rank = 0; rank < transport_->size(); ++rank) {
      if (rank != transport_->rank())
        transport_->wait(rank, Transport::kCallFlag, sequence_, deadline, describe(line));
      std::memcpy(&lines_[static_cast<std::size_t>(rank)],
                  transport_->call_line(rank).data() + half, sizeof line);
    }
  }

  WindowPlan& plan_for(const std::string& algorithm, const Arithmetic& arithmetic,
                       std::size_t element_count) {
    const PlanKey key{algorithm, arithmetic.op, arithmetic.input, arithmetic.rounds_each_step,
                      element_count};
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    if (plans_.size() >= kMostPlans) plans_.clear();
    const Schedule schedule =
        build_schedule(algorithm, {.topology = {.worker_count = transport_->size()}});
    Layout layout({element_count}, schedule.chunk_count, size_of(arithmetic.input));
    WindowPlan plan(schedule, std::move(layout), arithmetic, transport_->rank(),
                    transport_->window(0).size(), transport_->flag_count(), Context::process());
    return plans_.emplace(key, std::move(plan)).first->second;
  }

  Deadline deadline_of(const std::optional<std::chrono::duration<double>>& timeout) const {
    const auto seconds = timeout.value_or(timeout_);
    require(seconds.count() > 0, ErrorKind::kBadOption, "a timeout must be above 0 s, got {} s",
            seconds.count());
    return deadline_after(seconds);
  }

  /// After a deadline or a death the ranks may be in different places, so nothing more is tried.
  template <typename Work>
  void fail_for_good_if_thrown(Work&& work) {
    try {
      work();
    } catch (const DeadlineExceeded& error) {
      failure_ = error.what();
      throw;
    } catch (const PeerFailure& error) {
      failure_ = error.what();
      throw;
    }
  }

  void check_alive() const {
    if (failure_)
      throw PeerFailure(
          fmt::format("this group has failed before and must be joined anew; the "
                      "first failure was: {}",
                      *failure_));
  }

  std::unique_ptr<Transport> transport_;
  std::chrono::duration<double> timeout_;
  std::vector<CallLine> lines_;
  std::uint64_t sequence_ = 0;
  std::uint64_t wave_base_ = 0;
  std::map<PlanKey, WindowPlan> plans_;
  std::optional<std::string> failure_;
};

Group::Group(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout)
    : state_(std::make_unique<State>(std::move(transport), timeout)) {}
Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;
Group::~Group() = default;

int Group::rank() const { return state_->transport().rank(); }

int Group::size() const { return state_->transport().size(); }

std::string_view Group::transport() const { return state_->transport().name(); }

void Group::all_reduce(const Tensor& input, const TensorView& out,
                       const AllReduceOptions& options) {
  state_->all_reduce(input, out, options);
}

Tensor Group::all_reduce(const Tensor& input, const AllReduceOptions& options) {
  check(options.op);
  const DType dtype = result_dtype(options.op, input.dtype());
  Buffer buffer = Context::process().buffers().allocate(input.element_count() * size_of(dtype));
  all_reduce(input, {buffer.bytes(), dtype, input.shape()}, options);
  return {std::move(buffer), dtype, input.shape(), input.device()};
}

void Group::barrier() { state_->barrier(); }

}  // namespace fanin
