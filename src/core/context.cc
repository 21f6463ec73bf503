#include "fanin/context.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "core/require.h"
#include "core/thread_pool.h"

namespace fanin {
namespace {

int checked_thread_count(int wanted) {
  require(wanted >= 0 && wanted <= 1024, ErrorKind::kBadOption,
          "thread_count must be from 0 (automatic) to 1024, got {}", wanted);
  return wanted == 0 ? usable_core_count() : wanted;
}

}  // namespace

Context::Context(const ContextOptions& options)
    : buffers_(options.cache_limit_bytes),
      threads_(std::make_unique<ThreadPool>(checked_thread_count(options.thread_count))) {}

Context::~Context() = default;

Context& Context::process() {
  // Never destroyed: tensors in static objects may outlive every destructor of ours.
  static Context& context = *new Context();
  return context;
}

void Context::on_warning(WarningHandler handler) {
  const std::lock_guard lock(warning_mutex_);
  on_warning_ = std::move(handler);
}

void Context::warn(std::string_view sentence) {
  const std::lock_guard lock(warning_mutex_);
  if (on_warning_)
    on_warning_(sentence);
  else
    fmt::print(stderr, "fanin: warning: {}\n", sentence);
}

int Context::thread_count() const { return threads_->thread_count(); }

}  // namespace fanin
