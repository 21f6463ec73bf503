#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fanin/reduce_op.h"
#include "fanin/tensor.h"

namespace fanin {

/// How ranks find each other.
struct JoinOptions {
  /// "file:PATH": a path on this host, the same for all ranks, in a folder that only the job's user
  /// may write. Empty: a group of one.
  std::string rendezvous = {};
  int rank = 0;
  int world_size = 1;

  /// For joining, and the default of each call.
  std::chrono::duration<double> timeout = std::chrono::minutes(5);

  /// From FANIN_RENDEZVOUS, FANIN_RANK, FANIN_WORLD_SIZE and FANIN_TIMEOUT_SECONDS; without the
  /// first, a group of one. Throws InvalidArgument (kBadOption) and names the variable when one is
  /// missing or is no number.
  static JoinOptions from_environment();
};

struct AllReduceOptions {
  ReduceOp op = ReduceOp::kSum;

  /// kWide or kNative.
  Accumulation accumulation = Accumulation::kWide;

  /// Names the algorithm, which decides the order of the sum.
  std::string algorithm = "direct";

  /// The caller's step number. Ranks compare it, so that a straggler is an error, never a wrong
  /// sum.
  std::optional<std::int64_t> step = std::nullopt;

  /// Nothing: the group's.
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;
};

class Transport;

/// Some ranks that compute together, as one of them sees it. All ranks make the same calls in the
/// same order. One thread at a time.
class Group {
 public:
  explicit Group(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout);
  Group(Group&&) noexcept;
  Group& operator=(Group&&) noexcept;
  ~Group();

  int rank() const;
  int size() const;

  /// How the ranks talk: "in-process" or "shared-memory".
  std::string_view transport() const;

  /// The reduction of `input` over all ranks, the same bits on each. `out` gets it; its dtype is
  /// the input's, except for MEAN of integers (see SumOptions). `out` may be the input's memory if
  /// the dtypes are equal.
  ///
  /// What the ranks ask for is compared before anything is summed: if shape, dtype or anything else
  /// differs, every rank throws InvalidArgument, which names the ranks and both values. Throws
  /// DeadlineExceeded or PeerFailure when a rank does not come or dies.
  void all_reduce(const Tensor& input, const TensorView& out, const AllReduceOptions& options = {});
  Tensor all_reduce(const Tensor& input, const AllReduceOptions& options = {});

  /// Returns when all ranks are here.
  void barrier();

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Joins the group that `options` describe. Returns when all ranks are there. Throws
/// InvalidArgument, DeadlineExceeded or Unavailable with a sentence on what is missing.
Group join(const JoinOptions& options);

/// `rank_count` groups for as many threads of this process.
std::vector<Group> in_process(int rank_count,
                              std::chrono::duration<double> timeout = std::chrono::minutes(5));

}  // namespace fanin
