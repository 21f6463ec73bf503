#pragma once

#include "c_api/guarded.h"
#include "c_api/objects.h"

namespace fanin::c_api {

/// A call of all ranks. `convert(ranks)` makes our types of what C gave, and `call(ranks, given)`
/// does it. What convert refuses the other ranks are told, as Group tells what it refuses itself.
template <typename Convert, typename Call>
std::int32_t call_together(fanin_group* group, Convert&& convert, Call&& call) {
  return guarded([&] {
    Group& ranks = required(group, "the group").ranks;
    const auto given = [&] {
      try {
        return convert(ranks);
      } catch (const InvalidArgument& error) {
        ranks.refuse(error.what());
        throw;
      }
    }();
    call(ranks, given);
  });
}

/// The same for a call that may also begin and go on: `start(ranks, given)` gives its Handle.
template <typename Convert, typename Call, typename Start>
std::int32_t call_or_start(fanin_group* group, fanin_handle** handle, Convert&& convert,
                           Call&& call, Start&& start) {
  if (handle == nullptr) return call_together(group, convert, call);
  *handle = nullptr;
  return call_together(group, convert, [&](Group& ranks, const auto& given) {
    *handle = new fanin_handle{start(ranks, given)};
  });
}

}  // namespace fanin::c_api
