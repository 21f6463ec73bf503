#pragma once

#include <cstdint>

#include "fanin/fanin.h"

namespace fanin::c_api {

/// Keeps the exception that is being handled as the last error of this thread; its code.
std::int32_t remember_error() noexcept;

/// The body of a C function: runs `work`, and makes a code of what it throws. Nothing else lets
/// exceptions end here.
template <typename Work>
std::int32_t guarded(Work&& work) noexcept {
  try {
    work();
    return FANIN_OK;
  } catch (...) {
    return remember_error();
  }
}

}  // namespace fanin::c_api
