#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fanin/buffer.h"
#include "fanin/handle.h"
#include "fanin/reduce_op.h"
#include "fanin/tensor.h"

namespace fanin {

struct AllReduceOptions {
  ReduceOp op = ReduceOp::kSum;

  /// kWide or kNative.
  Accumulation accumulation = Accumulation::kWide;

  /// Names the algorithm, which decides the order of the sum; between hosts, the way too. "auto" is
  /// "direct" among ranks of one host; among several, what crosses the wires between them least:
  /// "direct//ring", or "ring" where hosts have one rank each or not as many.
  std::string algorithm = "auto";

  /// The caller's step number. Ranks compare it, so that a straggler is an error, never a wrong
  /// sum.
  std::optional<std::int64_t> step = std::nullopt;

  /// Nothing: the group's.
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;
};

class Transport;

/// Some ranks that compute together, as one of them sees it. All ranks make the same calls in the
/// same order. One thread at a time.
///
/// What the ranks ask for is compared before anything is summed: if shape, dtype or anything else
/// differs, every rank throws InvalidArgument, which names the ranks and both values. A rank whose
/// arguments are refused throws at once, and the others are told why.
///
/// Every call ends by its deadline. When a rank does not come, dies or leaves, all ranks that are
/// in the call throw DeadlineExceeded or PeerFailure, which name it; what outputs hold then is not
/// said, inputs are as they were (unless they are the output's memory). The group then begins a new
/// epoch: a rank that was not in the failed call joins with its next one, and the group works as
/// before if all come. After a death every call throws, until the survivors shrink() it.
class Group {
 public:
  explicit Group(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout);
  Group(Group&&) noexcept;
  Group& operator=(Group&&) noexcept;
  ~Group();

  int rank() const;
  int size() const;

  /// How the ranks talk: "in-process", "shared-memory" or "mpi".
  std::string_view transport() const;

  /// How often the group has failed so far.
  std::uint64_t epoch() const;

  /// Memory that all ranks can use, so that reductions of it need no copies on the way; for the
  /// rest it is as any other. It may outlive the group. Throws Unavailable if there is none left.
  Buffer allocate(std::size_t bytes);

  /// The reduction of `input` over all ranks, the same bits on each. `out` gets it; its dtype is
  /// the input's, except for MEAN of integers (see SumOptions). `out` may be the input's memory if
  /// the dtypes are equal.
  void all_reduce(const Tensor& input, const TensorView& out, const AllReduceOptions& options = {});
  Tensor all_reduce(const Tensor& input, const AllReduceOptions& options = {});

  /// The same for many tensors of one dtype at once, as if they were one after the other.
  void all_reduce(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
                  const AllReduceOptions& options = {});

  /// Begins it and returns. Several may be under way.
  Handle start_all_reduce(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
                          const AllReduceOptions& options = {});

  /// The reduction to rank `root`, whose `out` gets it; the others' is not looked at.
  void reduce(const Tensor& input, const TensorView& out, int root,
              const AllReduceOptions& options = {});

  /// What `inout` holds on rank `root` is then in that of all.
  void broadcast(const TensorView& inout, int root);

  /// The tensors of all ranks one after the other, along the first axis, of which each may have
  /// another extent.
  Tensor all_gather(const Tensor& input);

  /// Returns when all ranks are here.
  void barrier();

  /// Instead of the next call: the others' next call throws InvalidArgument with this sentence. For
  /// those who check arguments of their own before they call, so that nobody waits for them.
  void refuse(std::string_view sentence);

  /// A group of some of the ranks, in this order: a call for all ranks of this group, with the same
  /// list. Nothing for a rank that is not in it.
  std::optional<Group> subgroup(std::span<const int> ranks);

  /// A group of those that are still alive, in the same order: a call for all of them, after others
  /// have died. Throws DeadlineExceeded if one that lives does not call it.
  Group shrink();

 private:
  class State;
  explicit Group(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// `rank_count` groups for as many threads of this process.
std::vector<Group> in_process(int rank_count,
                              std::chrono::duration<double> timeout = std::chrono::minutes(5));

}  // namespace fanin
