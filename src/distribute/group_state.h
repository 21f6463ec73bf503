#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "distribute/arguments.h"
#include "distribute/bound_call.h"
#include "distribute/host_levels.h"
#include "distribute/lane.h"
#include "distribute/pads.h"
#include "distribute/post_office.h"
#include "distribute/progress.h"
#include "distribute/registered_pool.h"
#include "distribute/request.h"
#include "distribute/schedule_book.h"
#include "distribute/shrink.h"
#include "fanin/error.h"
#include "fanin/group.h"

namespace fanin {

/// What groups that were made from one another have in common.
struct GroupCommons {
  ScheduleBook book;
  std::shared_ptr<RegisteredPool> registered;  // none: all memory is seen
};

class Group::State {
 public:
  using Timeout = std::optional<std::chrono::duration<double>>;

  State(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout);

  /// One that was made from another, on channels of its own: those of the lanes, and the last.
  State(std::array<std::unique_ptr<Transport>, kChannelsOfGroup> transports,
        std::chrono::duration<double> timeout, std::shared_ptr<GroupCommons> commons,
        std::uint64_t first_epoch);

  Transport& transport() { return lanes_.front().lane.transport(); }
  PostOffice& post() { return post_; }
  Buffer allocate(std::size_t bytes);

  void all_reduce(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
                  const AllReduceOptions& options);
  Handle start_all_reduce(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
                          const AllReduceOptions& options);

  /// A collective of one tensor with an output, on this thread or later.
  void call(const Arguments& arguments);
  Handle start(Arguments arguments);
  /// One without: what this rank gets, if it gets something.
  std::optional<Tensor> collect(const Arguments& arguments);

  void barrier(const MoveOptions& options);
  void refuse(std::string_view sentence, const std::optional<std::uint64_t>& epoch);
  std::optional<Group> subgroup(std::span<const int> ranks);
  Group shrink();

 private:
  /// A lane with the calls that were bound to it, the last used first.
  struct Bench {
    Lane lane;
    std::list<BoundCall> calls = {};
    // The data of the call that is under way.
    std::vector<const std::byte*> inputs = {};
    std::vector<std::byte*> outputs = {};
  };

  /// Throws what has ended the epoch, if it is given and over.
  Ticket next_ticket(const std::optional<std::uint64_t>& epoch = std::nullopt);
  Bench& bench_of(const Ticket& ticket) { return lanes_[ticket.number % lanes_.size()]; }
  /// The lane of a call that runs on the caller's thread.
  Bench& take_bench(const Ticket& ticket) {
    if (has_handles_) progress_.wait_for_lane(static_cast<int>(ticket.number % lanes_.size()));
    return bench_of(ticket);
  }
  BoundCall& bind(Bench& bench, Request request);

  Call make_call(const Ticket& ticket, const AllReduceOptions& options, std::string text) const;

  /// Runs `check`, which looks at arguments; what it throws is told to the others.
  void refuse(Bench& bench, const Ticket& ticket, std::string_view sentence);
  template <typename Check>
  auto check_or_refuse(Bench& bench, const Ticket& ticket, Check&& check);

  /// Runs `work`, which talks to the others; what ends it early ends the epoch.
  template <typename Work>
  void end_epoch_if_thrown(Lane& lane, const Ticket& ticket, Work&& work);

  /// Enters an operation in which ranks only tell each other some numbers: each as many.
  void meet(Lane& lane, const Ticket& ticket, const Request& request,
            std::optional<std::int64_t> step, std::span<const std::int64_t> numbers, Call& call);
  /// What a rank has told.
  std::vector<std::int64_t> told_by(Lane& lane, int rank, const Ticket& ticket, std::size_t count);

  /// The extents of all parts, from what each rank tells.
  Extents find_extents(Lane& lane, const Ticket& ticket, const Request& request,
                       std::optional<std::int64_t> step, std::span<const std::int64_t> told,
                       Call& call);

  /// Checks and binds what is asked for, and puts its data on the bench.
  BoundCall& prepare(Bench& bench, std::span<const Tensor> inputs,
                     std::span<const TensorView> outputs, const AllReduceOptions& options);
  BoundCall& prepare(Bench& bench, const Arguments& arguments);

  /// Does what `prepare(bench)` binds: on the caller's thread, or on that of the handles.
  template <typename Prepare>
  void perform(Bench& bench, const Ticket& ticket, const AllReduceOptions& options,
               Precedence::Place& place, bool is_alone, Prepare&& prepare);
  template <typename Prepare>
  void perform_now(const AllReduceOptions& options, Prepare&& prepare);
  template <typename Prepare>
  Handle submit(AllReduceOptions options, Prepare prepare);
  void run(Bench& bench, const Ticket& ticket, BoundCall& bound, const AllReduceOptions& options,
           Precedence::Place& place, bool is_alone);
  Group open(int channel, std::span<const int> ranks, std::uint64_t opening,
             std::uint64_t first_epoch);

  /// The algorithm that a name stands for, here; for an all-reduce of these tensors.
  const std::string& resolve(const std::string& algorithm,
                             std::span<const Tensor> all_reduced = {}) const {
    if (algorithm != kAutomatic) return algorithm;
    if (all_reduced.empty()) return automatic_.usual;
    std::size_t bytes = 0;
    for (const Tensor& tensor : all_reduced) bytes += tensor.bytes().size();
    return bytes <= AutomaticAlgorithms::kMostShortBytes ? automatic_.short_all_reduce
                                                         : automatic_.long_all_reduce;
  }
  Request request_of(const Arguments& arguments);
  void tell_lanes_of_each_other();

  std::chrono::duration<double> timeout_;
  std::shared_ptr<GroupCommons> commons_;
  Precedence precedence_;
  std::array<Bench, Lane::kCount> lanes_;
  PostOffice post_;
  std::unique_ptr<Pad> pad_;
  AutomaticAlgorithms automatic_;
  UnseenHabit unseen_habit_;
  std::uint64_t epoch_ = 0;
  std::uint64_t operation_count_ = 0;  // of this epoch
  std::uint64_t first_epoch_ = 0;      // of this group
  std::uint64_t shrink_count_ = 0;
  bool has_handles_ = false;  // ever had one
  Progress progress_;         // ends before the rest goes
};

template <typename Check>
auto Group::State::check_or_refuse(Bench& bench, const Ticket& ticket, Check&& check) {
  try {
    return check();
  } catch (const InvalidArgument& error) {
    refuse(bench, ticket, error.what());
    throw;
  }
}

template <typename Work>
void Group::State::end_epoch_if_thrown(Lane& lane, const Ticket& ticket, Work&& work) {
  try {
    work();
  } catch (const InvalidArgument&) {
    throw;  // all ranks have seen the same
  } catch (const Error& error) {
    lane.transport().end_epoch(ticket.epoch, {lane.transport().rank(), error.kind(), error.what()});
    throw;
  } catch (const std::exception& error) {
    lane.transport().end_epoch(ticket.epoch,
                               {lane.transport().rank(), ErrorKind::kSystem, error.what()});
    throw;
  }
}

}  // namespace fanin
