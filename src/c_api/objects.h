#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/require.h"
#include "fanin/fanin.h"
#include "fanin/group.h"

namespace fanin::c_api {

/// Memory that groups which were made from one another have given out, by address. Any thread.
struct Allocations {
  std::mutex mutex;
  std::map<void*, Buffer> buffers;
};

/// What a pointer points to. Throws InvalidArgument (kBadOption) if it is null.
template <typename T>
T& required(T* pointer, std::string_view what) {
  require(pointer != nullptr, ErrorKind::kBadOption, "{} is NULL; give its address", what);
  return *pointer;
}

}  // namespace fanin::c_api

struct fanin_group {
  explicit fanin_group(fanin::Group some_ranks, std::shared_ptr<fanin::c_api::Allocations> memory =
                                                    std::make_shared<fanin::c_api::Allocations>())
      : allocations(std::move(memory)), ranks(std::move(some_ranks)) {}

  std::shared_ptr<fanin::c_api::Allocations> allocations;  // goes after calls that are under way
  fanin::Group ranks;
};

struct fanin_handle {
  fanin::Handle call;
};

struct fanin_plan {
  fanin_group* group;
  std::vector<std::size_t> counts;
  fanin::DType dtype;
  fanin::AllReduceOptions options;
  std::string text;
};
