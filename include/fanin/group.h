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

/// For calls that sum.
struct AllReduceOptions {
  ReduceOp op = ReduceOp::kSum;

  /// kWide or kNative.
  Accumulation accumulation = Accumulation::kWide;

  /// Names the algorithm, which decides the order of the sum; between hosts, the way too. "auto" is
  /// "direct" among ranks of one host, but "relay" for more than 256 KiB if they are bound to
  /// cores, several to each, as many to each; among several hosts, what crosses the wires between
  /// them least: "direct//ring", or "ring" where hosts have one rank each or not as many. Between
  /// two hosts with as many ranks, an all-reduce of up to 256 KiB takes a hop less, by
  /// "direct//recursive_doubling", or "recursive_doubling" with one rank a host.
  std::string algorithm = "auto";

  /// The caller's step number. Ranks compare it, so that a straggler is an error, never a wrong
  /// sum.
  std::optional<std::int64_t> step = std::nullopt;

  /// Nothing: the group's.
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;

  /// Of reduce_scatter: how many rows each rank gets, the same list on all ranks. Empty: as many
  /// each.
  std::vector<std::int64_t> extents = {};

  /// The calling thread runs beside one that computes: it sleeps soon where it would spin, so that
  /// the other has the core. What handles do is done so.
  bool in_background = false;

  /// Of two operations under way at once, as handles are, blocks of the one with the larger
  /// priority move first; the other goes on when it is done. The same on all ranks, 0 or more. A
  /// handle waits for the one before it unless its priority is larger, so that at most two are
  /// under way.
  int priority = 0;

  /// Only in this epoch() of the group: if it is over, the call throws what has ended it, and does
  /// not count as one. For several calls of which the later make no sense without the earlier.
  std::optional<std::uint64_t> epoch = std::nullopt;

  /// What errors of this rank call it, beside the operation's number: "pack 2 of 5".
  std::string label = {};
};

/// For calls that only move data.
struct MoveOptions {
  /// Names the algorithm, which decides who passes the data on.
  std::string algorithm = "auto";

  /// As those of AllReduceOptions.
  std::optional<std::int64_t> step = std::nullopt;
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;

  /// Of all_gather, gather and scatter: how many rows the part of each rank has, the same list on
  /// all ranks. Empty: as many each.
  std::vector<std::int64_t> extents = {};

  /// As those of AllReduceOptions.
  bool in_background = false;
  int priority = 0;
  std::optional<std::uint64_t> epoch = std::nullopt;
  std::string label = {};
};

/// Of messages from one rank to another.
struct PostOptions {
  /// Messages between two ranks keep their order, for each tag.
  std::uint32_t tag = 0;

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
///
/// Where ranks have parts of the data, these lie one after the other along the first axis, in the
/// order of the ranks. A row is what there is at one index of it; a part may have none.
///
/// Functions that start something return at once. Several may be under way, and go on one after the
/// other.
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

  /// For each rank the lowest rank that is on the same host.
  std::vector<int> hosts() const;

  /// For each rank the lowest rank that stays on the same core: itself where ranks may move.
  std::vector<int> cores() const;

  /// Whether calls may come from several threads, one after the other, as handles need it. Not so
  /// with an MPI that serves one thread only.
  bool serves_threads() const;

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

  Handle start_all_reduce(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
                          const AllReduceOptions& options = {});

  /// The reduction to rank `root`, whose `out` gets it; the others' is not looked at.
  void reduce(const Tensor& input, const TensorView& out, int root,
              const AllReduceOptions& options = {});
  Handle start_reduce(const Tensor& input, const TensorView& out, int root,
                      const AllReduceOptions& options = {});

  /// This rank's part of the reduction of `input`, in which all ranks have a part. `out` may be the
  /// memory of that part of the input if the dtypes are equal.
  void reduce_scatter(const Tensor& input, const TensorView& out,
                      const AllReduceOptions& options = {});
  Tensor reduce_scatter(const Tensor& input, const AllReduceOptions& options = {});
  Handle start_reduce_scatter(const Tensor& input, const TensorView& out,
                              const AllReduceOptions& options = {});

  /// What `inout` holds on rank `root` is then in that of all.
  void broadcast(const TensorView& inout, int root, const MoveOptions& options = {});
  Handle start_broadcast(const TensorView& inout, int root, const MoveOptions& options = {});

  /// The parts of all ranks. `input` may be the memory of this rank's part of `out`. Without `out`
  /// and extents, ranks tell each other how many rows each has.
  void all_gather(const Tensor& input, const TensorView& out, const MoveOptions& options = {});
  Tensor all_gather(const Tensor& input, const MoveOptions& options = {});
  Handle start_all_gather(const Tensor& input, const TensorView& out,
                          const MoveOptions& options = {});

  /// The same for rank `root` alone: the others' `out` is not looked at, and they get nothing.
  void gather(const Tensor& input, const TensorView& out, int root,
              const MoveOptions& options = {});
  std::optional<Tensor> gather(const Tensor& input, int root, const MoveOptions& options = {});
  Handle start_gather(const Tensor& input, const TensorView& out, int root,
                      const MoveOptions& options = {});

  /// This rank's part of what `input` holds on rank `root`; the others' is not looked at. On the
  /// root, `out` may be the memory of its part of the input.
  void scatter(const Tensor& input, const TensorView& out, int root,
               const MoveOptions& options = {});
  Handle start_scatter(const Tensor& input, const TensorView& out, int root,
                       const MoveOptions& options = {});

  /// From each rank the part of its `input` that is for this one, in the order of the senders.
  /// All parts of all ranks are equal.
  void all_to_all(const Tensor& input, const TensorView& out, const MoveOptions& options = {});
  Handle start_all_to_all(const Tensor& input, const TensorView& out,
                          const MoveOptions& options = {});

  /// The same where each rank says how many rows of its input go to each rank. How many came from
  /// each, an all_to_all of these numbers tells.
  Tensor all_to_all(const Tensor& input, std::span<const std::int64_t> extents,
                    const MoveOptions& options = {});

  /// Returns when all ranks are here. Of the options, step and timeout count.
  void barrier(const MoveOptions& options = {});

  /// Sends a tensor to another rank, which must receive one of this dtype and shape: returns when
  /// it does, and the memory may be used again. These and the collectives do not wait for each
  /// other. If dtype or shape differ, both throw InvalidArgument, which names both.
  void send(const Tensor& tensor, int to, const PostOptions& options = {});
  void receive(const TensorView& out, int from, const PostOptions& options = {});

  /// Begin it and return. Ranks that send to each other need it: send() would wait for the other's
  /// receive(), which comes after its send().
  Handle start_send(const Tensor& tensor, int to, const PostOptions& options = {});
  Handle start_receive(const TensorView& out, int from, const PostOptions& options = {});

  /// Instead of the next call: the others' next call throws InvalidArgument with this sentence. For
  /// those who check arguments of their own before they call, so that nobody waits for them.
  /// `epoch` as in AllReduceOptions.
  void refuse(std::string_view sentence, std::optional<std::uint64_t> epoch = std::nullopt);

  /// A group of some of the ranks, in this order: a call for all ranks of this group, with the same
  /// list. Nothing for a rank that is not in it. A rank makes one group at a time, also from
  /// different ones.
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
