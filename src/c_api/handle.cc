#include "c_api/guarded.h"
#include "c_api/objects.h"

using fanin::c_api::guarded;
using fanin::c_api::required;

int32_t fanin_handle_wait(fanin_handle* handle) {
  return guarded([&] { required(handle, "the handle").call.wait(); });
}

int32_t fanin_handle_test(fanin_handle* handle, int32_t* is_done) {
  return guarded([&] {
    required(is_done, "the place for the answer") =
        required(handle, "the handle").call.is_done() ? 1 : 0;
  });
}

void fanin_handle_free(fanin_handle* handle) { delete handle; }
