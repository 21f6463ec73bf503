// The collectives of a group, as C calls them: flat lists of elements.

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "c_api/collective.h"
#include "c_api/options.h"
#include "kernels/arithmetic.h"

namespace {

using fanin::AllReduceOptions;
using fanin::DType;
using fanin::Group;
using fanin::MoveOptions;
using fanin::Tensor;
using fanin::TensorView;
using fanin::c_api::call_or_start;
using fanin::c_api::to_dtype;
using fanin::c_api::to_input;
using fanin::c_api::to_move_options;
using fanin::c_api::to_output;
using fanin::c_api::to_reduce_options;

/// What a collective takes, in our own types.
template <typename Options>
struct Given {
  Tensor input = {};
  TensorView output = {};
  Options options = {};
};

/// Elements of the parts of all ranks, of which this one's has `count`. What cannot be addressed is
/// the largest number, and refused as a count of elements; negative extents Group refuses.
std::size_t count_all(std::size_t count, const auto& options, const Group& ranks) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(ranks.size()), count);
  for (std::size_t rank = 0; rank < options.extents.size(); ++rank)
    counts[rank] = static_cast<std::size_t>(std::max<std::int64_t>(options.extents[rank], 0));
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  return std::accumulate(
      counts.begin(), counts.end(), std::size_t{0},
      [](std::size_t sum, std::size_t each) { return each > kMost - sum ? kMost : sum + each; });
}

using Reduction = Given<AllReduceOptions>;
using Move = Given<MoveOptions>;

}  // namespace

int32_t fanin_all_reduce(fanin_group* group, const void* input, void* output, size_t count,
                         int32_t dtype, const fanin_call_options* options, fanin_handle** handle) {
  return call_or_start(
      group, handle,
      [&](Group& ranks) {
        const DType type = to_dtype(dtype);
        const AllReduceOptions how = to_reduce_options(options, "all_reduce", ranks.size());
        return Reduction{
            to_input(input, count, type, "the input of all_reduce"),
            to_output(output, count, result_dtype(how.op, type), "the output of all_reduce"), how};
      },
      [](Group& ranks, const Reduction& given) {
        ranks.all_reduce(given.input, given.output, given.options);
      },
      [](Group& ranks, const Reduction& given) {
        return ranks.start_all_reduce({&given.input, 1}, {&given.output, 1}, given.options);
      });
}

int32_t fanin_reduce(fanin_group* group, const void* input, void* output, size_t count,
                     int32_t dtype, int32_t root, const fanin_call_options* options,
                     fanin_handle** handle) {
  return call_or_start(
      group, handle,
      [&](Group& ranks) {
        const DType type = to_dtype(dtype);
        const AllReduceOptions how = to_reduce_options(options, "reduce", ranks.size());
        Reduction given{to_input(input, count, type, "the input of reduce"), {}, how};
        if (ranks.rank() == root)
          given.output =
              to_output(output, count, result_dtype(how.op, type), "the output of reduce");
        return given;
      },
      [&](Group& ranks, const Reduction& given) {
        ranks.reduce(given.input, given.output, root, given.options);
      },
      [&](Group& ranks, const Reduction& given) {
        return ranks.start_reduce(given.input, given.output, root, given.options);
      });
}

int32_t fanin_reduce_scatter(fanin_group* group, const void* input, void* output, size_t count,
                             int32_t dtype, const fanin_call_options* options,
                             fanin_handle** handle) {
  return call_or_start(
      group, handle,
      [&](Group& ranks) {
        const DType type = to_dtype(dtype);
        const AllReduceOptions how = to_reduce_options(options, "reduce_scatter", ranks.size());
        return Reduction{
            to_input(input, count_all(count, how, ranks), type, "the input of reduce_scatter"),
            to_output(output, count, result_dtype(how.op, type), "the output of reduce_scatter"),
            how};
      },
      [](Group& ranks, const Reduction& given) {
        ranks.reduce_scatter(given.input, given.output, given.options);
      },
      [](Group& ranks, const Reduction& given) {
        return ranks.start_reduce_scatter(given.input, given.output, given.options);
      });
}

int32_t fanin_broadcast(fanin_group* group, void* data, size_t count, int32_t dtype, int32_t root,
                        const fanin_call_options* options, fanin_handle** handle) {
  return call_or_start(
      group, handle,
      [&](Group& ranks) {
        const DType type = to_dtype(dtype);
        return Move{{},
                    to_output(data, count, type, "the data of broadcast"),
                    to_move_options(options, "broadcast", ranks.size())};
      },
      [&](Group& ranks, const Move& given) { ranks.broadcast(given.output, root, given.options); },
      [&](Group& ranks, const Move& given) {
        return ranks.start_broadcast(given.output, root, given.options);
      });
}

int32_t fanin_all_gather(fanin_group* group, const void* input, void* output, size_t count,
                         int32_t dtype, const fanin_call_options* options, fanin_handle** handle) {
  return call_or_start(
      group, handle,
      [&](Group& ranks) {
        const DType type = to_dtype(dtype);
        const MoveOptions how = to_move_options(options, "all_gather", ranks.size());
        return Move{
            to_input(input, count, type, "the input of all_gather"),
            to_output(output, count_all(count, how, ranks), type, "the output of all_gather"), how};
      },
      [](Group& ranks, const Move& given) {
        ranks.all_gather(given.input, given.output, given.options);
      },
      [](Group& ranks, const Move& given) {
        return ranks.start_all_gather(given.input, given.output, given.options);
      });
}

int32_t fanin_gather(fanin_group* group, const void* input, void* output, size_t count,
                     int32_t dtype, int32_t root, const fanin_call_options* options,
                     fanin_handle** handle) {
  return call_or_start(
      group, handle,
      [&](Group& ranks) {
        const DType type = to_dtype(dtype);
        const MoveOptions how = to_move_options(options, "gather", ranks.size());
        Move given{to_input(input, count, type, "the input of gather"), {}, how};
        if (ranks.rank() == root)
          given.output =
              to_output(output, count_all(count, how, ranks), type, "the output of gather");
        return given;
      },
      [&](Group& ranks, const Move& given) {
        ranks.gather(given.input, given.output, root, given.options);
      },
      [&](Group& ranks, const Move& given) {
        return ranks.start_gather(given.input, given.output, root, given.options);
      });
}

int32_t fanin_scatter(fanin_group* group, const void* input, void* output, size_t count,
                      int32_t dtype, int32_t root, const fanin_call_options* options,
                      fanin_handle** handle) {
  return call_or_start(
      group, handle,
      [&](Group& ranks) {
        const DType type = to_dtype(dtype);
        const MoveOptions how = to_move_options(options, "scatter", ranks.size());
        Move given{{}, to_output(output, count, type, "the output of scatter"), how};
        if (ranks.rank() == root)
          given.input = to_input(input, count_all(count, how, ranks), type, "the input of scatter");
        return given;
      },
      [&](Group& ranks, const Move& given) {
        ranks.scatter(given.input, given.output, root, given.options);
      },
      [&](Group& ranks, const Move& given) {
        return ranks.start_scatter(given.input, given.output, root, given.options);
      });
}

int32_t fanin_all_to_all(fanin_group* group, const void* input, void* output, size_t count,
                         int32_t dtype, const fanin_call_options* options, fanin_handle** handle) {
  return call_or_start(
      group, handle,
      [&](Group& ranks) {
        const DType type = to_dtype(dtype);
        const MoveOptions how = to_move_options(options, "all_to_all", ranks.size());
        fanin::require(how.extents.empty(), fanin::ErrorKind::kBadOption,
                       "fanin_call_options.extents is set, but all parts of an all_to_all are "
                       "equal; leave it NULL");
        const std::size_t all = count_all(count, how, ranks);
        return Move{to_input(input, all, type, "the input of all_to_all"),
                    to_output(output, all, type, "the output of all_to_all"), how};
      },
      [](Group& ranks, const Move& given) {
        ranks.all_to_all(given.input, given.output, given.options);
      },
      [](Group& ranks, const Move& given) {
        return ranks.start_all_to_all(given.input, given.output, given.options);
      });
}

int32_t fanin_barrier(fanin_group* group, const fanin_call_options* options) {
  return fanin::c_api::call_together(
      group, [&](Group&) { return fanin::c_api::to_meeting_options(options, "barrier"); },
      [](Group& ranks, const MoveOptions& how) { ranks.barrier(how); });
}
