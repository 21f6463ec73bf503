// Messages from one rank to another, as C sends and receives them.

#include "c_api/guarded.h"
#include "c_api/objects.h"
#include "c_api/options.h"

namespace {

using fanin::Group;
using fanin::c_api::to_dtype;
using fanin::c_api::to_post_options;

/// `call(ranks)` does it; with a place for a handle, `start(ranks)` begins it.
template <typename Call, typename Start>
int32_t post(fanin_group* group, fanin_handle** handle, Call&& call, Start&& start) {
  if (handle != nullptr) *handle = nullptr;
  return fanin::c_api::guarded([&] {
    Group& ranks = fanin::c_api::required(group, "the group").ranks;
    if (handle == nullptr)
      call(ranks);
    else
      *handle = new fanin_handle{start(ranks)};
  });
}

}  // namespace

int32_t fanin_send(fanin_group* group, const void* data, size_t count, int32_t dtype, int32_t to,
                   uint32_t tag, const fanin_call_options* options, fanin_handle** handle) {
  const auto tensor = [&] {
    return fanin::c_api::to_input(data, count, to_dtype(dtype), "the data of send");
  };
  const auto how = [&] { return to_post_options(options, "send", tag); };
  return post(
      group, handle, [&](Group& ranks) { ranks.send(tensor(), to, how()); },
      [&](Group& ranks) { return ranks.start_send(tensor(), to, how()); });
}

int32_t fanin_receive(fanin_group* group, void* data, size_t count, int32_t dtype, int32_t from,
                      uint32_t tag, const fanin_call_options* options, fanin_handle** handle) {
  const auto view = [&] {
    return fanin::c_api::to_output(data, count, to_dtype(dtype), "the data of receive");
  };
  const auto how = [&] { return to_post_options(options, "receive", tag); };
  return post(
      group, handle, [&](Group& ranks) { ranks.receive(view(), from, how()); },
      [&](Group& ranks) { return ranks.start_receive(view(), from, how()); });
}
