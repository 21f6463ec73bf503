// Groups, their memory, and the version.

#include <algorithm>
#include <span>
#include <vector>

#include "c_api/collective.h"
#include "c_api/options.h"
#include "fanin/join.h"

using fanin::Buffer;
using fanin::ErrorKind;
using fanin::Group;
using fanin::c_api::call_together;
using fanin::c_api::guarded;
using fanin::c_api::required;

const char* fanin_version(void) { return FANIN_VERSION; }

int32_t fanin_join(const fanin_join_options* options, fanin_group** group) {
  return guarded([&] {
    required(group, "the place for the group") = nullptr;
    *group = new fanin_group(fanin::join(fanin::c_api::to_join_options(options)));
  });
}

int32_t fanin_in_process(int32_t rank_count, double timeout_seconds, fanin_group** groups) {
  return guarded([&] {
    required(groups, "the place for the groups");
    for (int32_t rank = 0; rank < rank_count; ++rank) groups[rank] = nullptr;
    const auto timeout = fanin::c_api::to_timeout(timeout_seconds);
    std::vector<std::unique_ptr<fanin_group>> made;
    for (Group& ranks :
         timeout ? fanin::in_process(rank_count, *timeout) : fanin::in_process(rank_count))
      made.push_back(std::make_unique<fanin_group>(std::move(ranks)));
    std::ranges::transform(made, groups, [](auto& group) { return group.release(); });
  });
}

void fanin_group_free(fanin_group* group) { delete group; }

int32_t fanin_rank(const fanin_group* group, int32_t* rank) {
  return guarded([&] {
    required(rank, "the place for the rank") = required(group, "the group").ranks.rank();
  });
}

int32_t fanin_size(const fanin_group* group, int32_t* size) {
  return guarded([&] {
    required(size, "the place for the size") = required(group, "the group").ranks.size();
  });
}

int32_t fanin_subgroup(fanin_group* group, const int32_t* ranks, size_t rank_count,
                       fanin_group** subgroup) {
  return call_together(
      group,
      [&](Group&) {
        required(subgroup, "the place for the subgroup") = nullptr;
        if (rank_count > 0) required(ranks, "the list of ranks");
        return std::vector<int>(ranks, ranks + rank_count);
      },
      [&](Group& all, const std::vector<int>& some) {
        if (std::optional<Group> made = all.subgroup(some))
          *subgroup = new fanin_group(std::move(*made), group->allocations);
      });
}

int32_t fanin_shrink(fanin_group* group, fanin_group** survivors) {
  return guarded([&] {
    required(survivors, "the place for the group of survivors") = nullptr;
    fanin_group& all = required(group, "the group");
    *survivors = new fanin_group(all.ranks.shrink(), all.allocations);
  });
}

int32_t fanin_allocate(fanin_group* group, size_t bytes, void** data) {
  return guarded([&] {
    required(data, "the place for the address") = nullptr;
    const Buffer buffer = required(group, "the group").ranks.allocate(std::max<size_t>(bytes, 1));
    void* const address = buffer.bytes().data();
    const std::lock_guard lock(group->allocations->mutex);
    group->allocations->buffers.emplace(address, buffer);
    *data = address;
  });
}

int32_t fanin_free(fanin_group* group, void* data) {
  return guarded([&] {
    fanin::c_api::Allocations& allocations = *required(group, "the group").allocations;
    if (data == nullptr) return;
    const std::lock_guard lock(allocations.mutex);
    fanin::require(allocations.buffers.erase(data) == 1, ErrorKind::kBadOption,
                   "{} is no memory that fanin_allocate() has given for this group and that is "
                   "still in use; free each address once, with the group that gave it",
                   data);
  });
}
