#include "fanin/replica_context.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/require.h"

namespace fanin {
namespace {

constexpr std::chrono::duration<double> kDefaultTimeout = std::chrono::minutes(5);

}  // namespace

/// Where replicas wait for each other. The last to come does the work for all.
class ReplicaContext::Meeting {
 public:
  Meeting(const CrossDeviceOps& ops, std::span<const Device> devices)
      : ops_(ops), devices_(devices.begin(), devices.end()), arrivals_(devices.size()) {}

  const CrossDeviceOps& ops() const { return ops_; }
  const std::vector<Device>& devices() const { return devices_; }

  /// One replica's part in a call.
  struct Arrival {
    std::string call;  // what all must agree on, in words
    const void* part;  // what the work reads
  };

  /// Waits until all replicas have come with the same call, and then calls `work(parts)` once, in
  /// the last of them. Everybody gets what it gives, or what it throws.
  template <typename Answer, typename Part>
  Answer meet(int replica, std::string call, const Part& part,
              std::optional<double> timeout_seconds,
              const std::function<Answer(const std::vector<const Part*>&)>& work) {
    std::unique_lock lock(mutex_);
    check_alive();
    arrivals_[static_cast<std::size_t>(replica)] = Arrival{std::move(call), &part};
    const std::uint64_t number = meeting_;
    if (++arrived_ == arrivals_.size()) {
      finish([&]() -> std::shared_ptr<const void> {
        check_calls();
        std::vector<const Part*> parts;
        for (const auto& arrival : arrivals_)
          parts.push_back(static_cast<const Part*>(arrival->part));
        return std::make_shared<Answer>(work(parts));
      });
    } else {
      wait(lock, number, timeout_seconds);
    }
    if (error_of(number)) std::rethrow_exception(error_of(number));
    return *static_cast<const Answer*>(answer_.get());
  }

  /// A replica's function has ended; those who wait for it need not.
  void leave(int replica, bool has_failed) {
    const std::lock_guard lock(mutex_);
    left_.push_back(replica);
    if (has_failed || arrived_ > 0) give_up(left_message());
    changed_.notify_all();
  }

 private:
  void check_alive() const {
    if (broken_) std::rethrow_exception(broken_);
    if (!left_.empty()) throw PeerFailure(left_message());
  }

  std::string left_message() const {
    return fmt::format("replica {} has ended and does not take part any more",
                       fmt::join(left_, ", "));
  }

  void check_calls() const {
    for (std::size_t i = 1; i < arrivals_.size(); ++i)
      require(arrivals_[i]->call == arrivals_[0]->call, ErrorKind::kRankMismatch,
              "the replicas' calls differ: replica 0 calls {}, replica {} calls {}",
              arrivals_[0]->call, i, arrivals_[i]->call);
  }

  void finish(const std::function<std::shared_ptr<const void>()>& work) {
    try {
      answer_ = work();
      error_ = nullptr;
    } catch (...) {
      error_ = std::current_exception();
    }
    std::ranges::fill(arrivals_, std::nullopt);
    arrived_ = 0;
    ++meeting_;
    changed_.notify_all();
  }

  void wait(std::unique_lock<std::mutex>& lock, std::uint64_t number,
            std::optional<double> timeout_seconds) {
    const auto timeout =
        timeout_seconds ? std::chrono::duration<double>(*timeout_seconds) : kDefaultTimeout;
    const auto is_over = [&] { return meeting_ != number || broken_; };
    // Somebody who has gone will not come: leave() breaks the meeting.
    if (changed_.wait_for(lock, timeout, is_over)) return;
    std::vector<std::size_t> absent;
    for (std::size_t i = 0; i < arrivals_.size(); ++i)
      if (!arrivals_[i]) absent.push_back(i);
    give_up(std::make_exception_ptr(DeadlineExceeded(
        fmt::format("replica {} did not come to {} within {:g} s", fmt::join(absent, ", "),
                    arrivals_[first_arrived()]->call, timeout.count()))));
    changed_.notify_all();
  }

  std::size_t first_arrived() const {
    return static_cast<std::size_t>(
        std::ranges::find_if(arrivals_, [](const auto& each) { return each.has_value(); }) -
        arrivals_.begin());
  }

  void give_up(const std::string& message) {
    give_up(std::make_exception_ptr(PeerFailure(message)));
  }
  void give_up(std::exception_ptr error) {
    if (!broken_) broken_ = std::move(error);
  }

  /// What ended the meeting of this number, if it was an error.
  std::exception_ptr error_of(std::uint64_t number) const {
    return meeting_ == number ? broken_ : error_;
  }

  const CrossDeviceOps& ops_;
  const std::vector<Device> devices_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<Arrival>> arrivals_;
  std::size_t arrived_ = 0;
  std::uint64_t meeting_ = 0;
  std::shared_ptr<const void> answer_;
  std::exception_ptr error_;   // of the last meeting
  std::exception_ptr broken_;  // nobody can meet any more
  std::vector<int> left_;
};

int ReplicaContext::replica_count() const { return static_cast<int>(meeting_.devices().size()); }

const Device& ReplicaContext::device() const {
  return meeting_.devices()[static_cast<std::size_t>(replica_id_)];
}

std::vector<Result> ReplicaContext::batch_reduce_to(ReduceOp op,
                                                    std::span<const ValueAndDestinations> pairs,
                                                    const CommunicationOptions& options) {
  using Pairs = std::span<const ValueAndDestinations>;
  check(op);
  check(options);
  const std::string call = fmt::format("{} of {} values in packs of {} bytes", name(op),
                                       pairs.size(), options.bytes_per_pack);
  return meeting_.meet<std::vector<Result>, Pairs>(
      replica_id_, call, pairs, options.timeout_seconds,
      [&](const std::vector<const Pairs*>& parts) {
        std::vector<ReducePair> merged;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
          std::vector<Value> values;
          for (std::size_t r = 0; r < parts.size(); ++r)
            values.push_back(on_device((*parts[r])[i].value, meeting_.devices()[r]));
          merged.push_back({PerReplica(std::move(values)), (*parts[0])[i].destinations});
        }
        return meeting_.ops().batch_reduce(op, merged, options);
      });
}

std::vector<Value> ReplicaContext::all_reduce(ReduceOp op, std::span<const Value> values,
                                              const CommunicationOptions& options) {
  std::vector<Value> everywhere;
  for (const Device& device : meeting_.devices()) everywhere.emplace_back(Tensor().on(device));
  const Destinations destinations{PerReplica(std::move(everywhere))};
  std::vector<ValueAndDestinations> pairs;
  for (const Value& value : values) pairs.push_back({value, destinations});
  std::vector<Value> own;
  for (const Result& result : batch_reduce_to(op, pairs, options))
    own.push_back(value_on(result, device()));
  return own;
}

Value ReplicaContext::all_reduce(ReduceOp op, const Value& value,
                                 const CommunicationOptions& options) {
  return std::move(all_reduce(op, std::span(&value, 1), options).front());
}

Result ReplicaContext::reduce_to(ReduceOp op, const Value& value, const Destinations& destinations,
                                 const CommunicationOptions& options) {
  const ValueAndDestinations pair{value, destinations};
  return std::move(batch_reduce_to(op, {&pair, 1}, options).front());
}

void ReplicaContext::update(Variable& variable, const UpdateFn& fn, const Tensor& argument) {
  struct Part {
    Variable* variable;
    const UpdateFn* fn;
    const Tensor* argument;
  };
  const Part part{&variable, &fn, &argument};
  meeting_.meet<bool, Part>(
      replica_id_, fmt::format("update of the variable \"{}\"", variable.name()), part,
      std::nullopt, [&](const std::vector<const Part*>& parts) {
        const std::vector<Device>& devices = meeting_.devices();
        parts[0]->variable->assign_each([&](const Device& device, const Tensor& value) {
          const auto found = std::ranges::find(devices, device);
          const auto replica =
              found == devices.end() ? 0 : static_cast<std::size_t>(found - devices.begin());
          return (*parts[0]->fn)(value, *parts[replica]->argument);
        });
        return true;
      });
}

void ReplicaContext::barrier() {
  meeting_.meet<bool, int>(replica_id_, "barrier", replica_id_, std::nullopt,
                           [](const std::vector<const int*>&) { return true; });
}

void run_replicas(const CrossDeviceOps& ops, std::span<const Device> devices,
                  const std::function<void(ReplicaContext&)>& step) {
  require(!devices.empty(), ErrorKind::kEmpty, "a step needs at least one replica; name a device");
  ReplicaContext::Meeting meeting(ops, devices);
  std::mutex mutex;
  std::exception_ptr first;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < devices.size(); ++i)
      threads.emplace_back([&, replica = static_cast<int>(i)] {
        ReplicaContext context(meeting, replica);
        std::exception_ptr error;
        try {
          step(context);
        } catch (...) {
          error = std::current_exception();
          const std::lock_guard lock(mutex);
          if (!first) first = error;
        }
        meeting.leave(replica, error != nullptr);
      });
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace fanin
