/// Fanin from C, and from whatever calls C: groups of ranks, their collectives, plans, errors.
/// docs/c.md shows how. C++ has the other headers.
///
/// Functions return FANIN_OK or a code; fanin_last_error() then has a sentence on what is wrong. No
/// exception leaves them. What a function makes is NULL if it fails. Enumerations are passed as
/// int32_t, and their numbers never change.
///
/// Collectives are calls for all ranks of a group, in the same order, with arguments that agree.
/// These are compared: if something differs, or is refused on one rank, every rank gets
/// FANIN_INVALID_ARGUMENT at once. Every call ends by its deadline. After FANIN_DEADLINE_EXCEEDED
/// or FANIN_PEER_FAILURE outputs hold nothing in particular, and the group goes on if all its ranks
/// come to the next call; without ranks that have died it goes on after fanin_shrink().
#ifndef FANIN_FANIN_H
#define FANIN_FANIN_H

#include <stddef.h>
#include <stdint.h>

/// Of this header; fanin_version() tells that of the library.
#define FANIN_VERSION_MAJOR 0
#define FANIN_VERSION_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif

/// What went wrong, coarsely: what a caller can do about it.
enum fanin_code {
  FANIN_OK = 0,
  FANIN_INVALID_ARGUMENT = 1,   ///< what was asked for cannot be; do not try again
  FANIN_DEADLINE_EXCEEDED = 2,  ///< somebody did not come in time
  FANIN_PEER_FAILURE = 3,       ///< another rank died or went away
  FANIN_UNAVAILABLE = 4,        ///< this machine or build cannot do it: memory, a library
  FANIN_CANCELLED = 5           ///< the caller asked to stop
};

/// What went wrong, exactly. New ones are added at the end.
enum fanin_kind {
  FANIN_KIND_NONE = 0,
  FANIN_KIND_EMPTY = 1,
  FANIN_KIND_SHAPE_MISMATCH = 2,
  FANIN_KIND_DTYPE_MISMATCH = 3,
  FANIN_KIND_SPARSE_MISMATCH = 4,
  FANIN_KIND_INDEX_OUT_OF_RANGE = 5,
  FANIN_KIND_BAD_METHOD = 6,
  FANIN_KIND_BAD_REDUCE_OP = 7,
  FANIN_KIND_BAD_DESTINATION = 8,
  FANIN_KIND_BAD_DEVICE = 9,
  FANIN_KIND_BAD_SPEC = 10,
  FANIN_KIND_BAD_OPTION = 11,
  FANIN_KIND_RANK_MISMATCH = 12,
  FANIN_KIND_TIMEOUT = 13,
  FANIN_KIND_PEER_DIED = 14,
  FANIN_KIND_SYSTEM = 15,
  FANIN_KIND_BAD_FILE = 16,
  FANIN_KIND_BAD_SCHEDULE = 17,
  FANIN_KIND_CANCELLED = 18
};

enum fanin_dtype {
  FANIN_FLOAT16 = 0,
  FANIN_BFLOAT16 = 1,
  FANIN_FLOAT32 = 2,
  FANIN_FLOAT64 = 3,
  FANIN_INT8 = 4,
  FANIN_INT16 = 5,
  FANIN_INT32 = 6,
  FANIN_INT64 = 7,
  FANIN_UINT8 = 8,
  FANIN_UINT16 = 9,
  FANIN_UINT32 = 10,
  FANIN_UINT64 = 11
};

/// How the inputs of all ranks become one. The mean of integers of 8 and 16 bits is float32, that
/// of 32 and 64 bits float64: outputs are of that type then.
enum fanin_op { FANIN_SUM = 0, FANIN_MEAN = 1, FANIN_MIN = 2, FANIN_MAX = 3, FANIN_PROD = 4 };

/// Where sums of float16 and bfloat16 are rounded: once at the end, or at each step.
enum fanin_accumulation { FANIN_WIDE = 0, FANIN_NATIVE = 1 };

/// Some ranks that compute together, as one of them sees it. One thread at a time.
typedef struct fanin_group fanin_group;

/// A collective that goes on while the caller does something else. Any thread may use it.
typedef struct fanin_handle fanin_handle;

/// All-reduces of the same buffers, many times.
typedef struct fanin_plan fanin_plan;

/// How to join. Set `size`; what else is 0 is as it is without options.
typedef struct fanin_join_options {
  size_t size;  ///< sizeof(fanin_join_options)

  /// The three together, or none. With them, nothing is read from the environment. The rendezvous
  /// is "file:PATH", the same on all ranks, in a folder that only the job's user may write.
  const char* rendezvous;
  int32_t rank;
  int32_t world_size;

  double timeout_seconds;    ///< for joining, and the default of each call
  const char* secret;        ///< what every rank of the job knows and nobody else
  const char* engine;        ///< "mpi", "openmpi" or "mpich": the ranks are those of an MPI job
  const void* communicator;  ///< the address of an MPI_Comm whose ranks join, by "mpi" if not told
} fanin_join_options;

/// How a call goes. Set `size`; what else is 0 is as it is without options. A call refuses options
/// that it has no use for.
typedef struct fanin_call_options {
  size_t size;             ///< sizeof(fanin_call_options)
  int32_t op;              ///< of calls that reduce
  int32_t accumulation;    ///< likewise
  const char* algorithm;   ///< NULL: "auto"; `fanin algorithms` names them
  double timeout_seconds;  ///< 0: the group's
  int32_t has_step;        ///< whether `step` counts
  int64_t step;            ///< the caller's; ranks compare it, so that a straggler is an error
  const int64_t* extents;  ///< elements of each rank's part, the same list on all; NULL: equal
} fanin_call_options;

/// Such as "0.1.0".
const char* fanin_version(void);

/// Why the last call that failed on this thread did so; "" if none has. It stays until the next one
/// that fails.
const char* fanin_last_error(void);

/// Its fanin_kind.
int32_t fanin_last_error_kind(void);

/// Joins the group that the environment describes, or `options`, which may be NULL. Returns when
/// all ranks are there; a process that nobody has launched is a group of one.
int32_t fanin_join(const fanin_join_options* options, fanin_group** group);

/// Makes a group for each of `rank_count` threads of this process. A timeout of 0 is the default.
int32_t fanin_in_process(int32_t rank_count, double timeout_seconds, fanin_group** groups);

/// Leaves the group, when what was begun by handles is done. NULL is nothing.
void fanin_group_free(fanin_group* group);

int32_t fanin_rank(const fanin_group* group, int32_t* rank);
int32_t fanin_size(const fanin_group* group, int32_t* size);

/// A group of some of the ranks, in this order: a call for all ranks of `group`, with the same
/// list. NULL for a rank that is not in it.
int32_t fanin_subgroup(fanin_group* group, const int32_t* ranks, size_t rank_count,
                       fanin_group** subgroup);

/// A group of those that are still alive: a call for all of them, after others have died.
int32_t fanin_shrink(fanin_group* group, fanin_group** survivors);

/// Memory that all ranks can use, so that reductions of it need no copies on the way; for the rest
/// it is as any other, aligned to 64 bytes. It is there until fanin_free(), or until `group` and
/// all groups that were made from it are freed.
int32_t fanin_allocate(fanin_group* group, size_t bytes, void** data);

/// Gives memory back to the group that gave it, or one that was made from it. NULL is nothing.
int32_t fanin_free(fanin_group* group, void* data);

/// The collectives. `count` is in elements of `dtype`. `options` may be NULL. With a `handle` the
/// call begins and returns; what is wrong with it, fanin_handle_wait() tells. With NULL for it, it
/// returns when it is done. Inputs stay as they are, and outputs untouched, until then.
///
/// Where ranks have parts of the data, these lie one after the other in the order of the ranks, and
/// `count` is the length of this rank's part. They are all as long, unless there are extents.

/// The reduction of `count` elements, the same bits on all ranks. `output` may be `input`.
int32_t fanin_all_reduce(fanin_group* group, const void* input, void* output, size_t count,
                         int32_t dtype, const fanin_call_options* options, fanin_handle** handle);

/// The same for rank `root` alone: the others' `output` is not looked at.
int32_t fanin_reduce(fanin_group* group, const void* input, void* output, size_t count,
                     int32_t dtype, int32_t root, const fanin_call_options* options,
                     fanin_handle** handle);

/// This rank's part of the reduction of `input`, which has all parts. `output` may be that part.
int32_t fanin_reduce_scatter(fanin_group* group, const void* input, void* output, size_t count,
                             int32_t dtype, const fanin_call_options* options,
                             fanin_handle** handle);

/// What `data` holds on rank `root` is then in that of all.
int32_t fanin_broadcast(fanin_group* group, void* data, size_t count, int32_t dtype, int32_t root,
                        const fanin_call_options* options, fanin_handle** handle);

/// The parts of all ranks. `input` may be this rank's part of `output`.
int32_t fanin_all_gather(fanin_group* group, const void* input, void* output, size_t count,
                         int32_t dtype, const fanin_call_options* options, fanin_handle** handle);

/// The same for rank `root` alone: the others' `output` is not looked at.
int32_t fanin_gather(fanin_group* group, const void* input, void* output, size_t count,
                     int32_t dtype, int32_t root, const fanin_call_options* options,
                     fanin_handle** handle);

/// This rank's part of what `input` holds on rank `root`; the others' is not looked at.
int32_t fanin_scatter(fanin_group* group, const void* input, void* output, size_t count,
                      int32_t dtype, int32_t root, const fanin_call_options* options,
                      fanin_handle** handle);

/// From each rank the part of its `input` that is for this one. All parts of all ranks are equal.
int32_t fanin_all_to_all(fanin_group* group, const void* input, void* output, size_t count,
                         int32_t dtype, const fanin_call_options* options, fanin_handle** handle);

/// Returns when all ranks are here.
int32_t fanin_barrier(fanin_group* group, const fanin_call_options* options);

/// Sends `count` elements to rank `to`, which must receive as many of this dtype: returns when it
/// does. Between two ranks messages keep their order, for each tag. Ranks that send to each other
/// need handles. These two and the collectives do not wait for each other. What is refused here,
/// the other rank is not told. Of `options`, the timeout counts.
int32_t fanin_send(fanin_group* group, const void* data, size_t count, int32_t dtype, int32_t to,
                   uint32_t tag, const fanin_call_options* options, fanin_handle** handle);
int32_t fanin_receive(fanin_group* group, void* data, size_t count, int32_t dtype, int32_t from,
                      uint32_t tag, const fanin_call_options* options, fanin_handle** handle);

/// Returns when the call is done, with its outcome, each time.
int32_t fanin_handle_wait(fanin_handle* handle);

/// Sets `is_done` to 1 if fanin_handle_wait() would return at once, and to 0 otherwise.
int32_t fanin_handle_test(fanin_handle* handle, int32_t* is_done);

/// Waits, and drops an error, which the group's next call gives again. NULL is nothing.
void fanin_handle_free(fanin_handle* handle);

/// Plans the all-reduce of `buffer_count` buffers of one dtype as if they were one after the other,
/// with counts[i] elements in buffer i. No call of the group: ranks do not meet. `options` say all
/// but the step.
int32_t fanin_plan_all_reduce(fanin_group* group, size_t buffer_count, const size_t* counts,
                              int32_t dtype, const fanin_call_options* options, fanin_plan** plan);

/// All-reduces inputs[i] into outputs[i], which may be the same. Of `options`, step and timeout
/// count. The group is still there.
int32_t fanin_plan_run(fanin_plan* plan, const void* const* inputs, void* const* outputs,
                       const fanin_call_options* options, fanin_handle** handle);

/// What goes together, by which algorithm and at what cost, for people. Lives as long as the plan.
int32_t fanin_plan_explain(const fanin_plan* plan, const char** text);

/// May be after the group is gone. NULL is nothing.
void fanin_plan_free(fanin_plan* plan);

#ifdef __cplusplus
}
#endif

#endif
