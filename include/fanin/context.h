#pragma once

#include <cstddef>
#include <memory>

#include "fanin/buffer.h"

namespace fanin {

class ThreadPool;

struct ContextOptions {
  /// Threads that compute, the caller's included. 0: as many as this process may run on.
  int thread_count = 0;

  /// Unused memory that is kept for the next buffer.
  std::size_t cache_limit_bytes = std::size_t{1} << 30;
};

/// Threads and memory. Everything uses Context::process() unless it is given another; tests and
/// embedders pass their own.
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

  /// For the library's own layers.
  ThreadPool& threads() { return *threads_; }

 private:
  BufferPool buffers_;
  std::unique_ptr<ThreadPool> threads_;
};

}  // namespace fanin
