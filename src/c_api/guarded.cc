#include "c_api/guarded.h"

#include <fmt/format.h>

#include <new>
#include <string>

#include "fanin/error.h"

namespace fanin::c_api {
namespace {

struct LastError {
  ErrorKind kind{};
  std::string text;
  const char* message = "";  // the text, or a constant where there is no memory for one
};

thread_local LastError last_error;

std::int32_t remember(ErrorKind kind, const char* message) {
  last_error.kind = kind;
  last_error.message = message;
  return static_cast<std::int32_t>(code_of(kind));
}

std::int32_t remember_text(ErrorKind kind, std::string text) {
  last_error.text = std::move(text);
  return remember(kind, last_error.text.c_str());
}

std::int32_t remember_thrown() {
  try {
    throw;
  } catch (const Error& error) {
    return remember_text(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return remember_text(ErrorKind::kSystem,
                         fmt::format("something that Fanin did not expect: {}", error.what()));
  }
}

}  // namespace

std::int32_t remember_error() noexcept {
  try {
    return remember_thrown();
  } catch (const std::bad_alloc&) {
    return remember(ErrorKind::kSystem, "there is no memory left for this call");
  } catch (...) {
    return remember(ErrorKind::kSystem, "something that Fanin did not expect, and without a text");
  }
}

}  // namespace fanin::c_api

const char* fanin_last_error(void) { return fanin::c_api::last_error.message; }

int32_t fanin_last_error_kind(void) { return static_cast<int32_t>(fanin::c_api::last_error.kind); }
