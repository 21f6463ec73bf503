#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "fanin/buffer.h"

namespace fanin {

class ThreadPool;

struct ContextOptions {
  /// Threads that compute, the caller's included. 0: as many as this process may run on.
  int thread_count = 0;

  /// Unused memory that is kept for the next buffer.
  std::size_t cache_limit_bytes = std::size_t{1} << 30;
};

/// Threads, memory, and who is told of warnings. Everything uses Context::process() unless it is
/// given another; tests and embedders pass their own.
class Context {
 public:
  /// Throws InvalidArgument (kBadOption) if thread_count is negative or above 1024.
  explicit Context(const ContextOptions& options = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The one object of the process: made at first use, never destroyed.
  static Context& process();

  int thread_count() const;
  BufferPool& buffers() { return buffers_; }
  MemoryStats memory() const { return buffers_.stats(); }

  /// Who is told, in a sentence, of what is odd but no error. It is called from any thread, one
  /// call at a time. None: a line on the standard error output, "fanin: warning: ...".
  using WarningHandler = std::function<void(std::string_view sentence)>;
  void on_warning(WarningHandler handler);

  /// For the library's own layers.
  ThreadPool& threads() { return *threads_; }
  void warn(std::string_view sentence);

 private:
  std::mutex warning_mutex_;
  WarningHandler on_warning_;
  BufferPool buffers_;
  std::unique_ptr<ThreadPool> threads_;
};

}  // namespace fanin
