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

/// `rank_count` groups for as many threads of this process.
std::vector<Group> in_process(int rank_count,
                              std::chrono::duration<double> timeout = std::chrono::minutes(5));

}  // namespace fanin
