#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace fanin {

/// Memory that a pool has given out, as of now. Bytes of buffers are those asked for; what is
/// reserved for one may be an eighth more.
struct MemoryStats {
  std::size_t now_bytes = 0;           ///< in live buffers
  std::size_t peak_bytes = 0;          ///< the most that now_bytes has been
  std::size_t cached_bytes = 0;        ///< reserved for the next buffer, in nobody's hands
  std::uint64_t allocation_count = 0;  ///< how often the system was asked for memory
};

/// Writable bytes, 64-byte aligned, given back to their pool when the last owner lets go.
class Buffer {
 public:
  Buffer() = default;

  /// Other memory, which its last owner gives back in its own way.
  Buffer(std::shared_ptr<std::byte> data, std::size_t size) : data_(std::move(data)), size_(size) {}

  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_.get(), size_}; }

  /// Shares the memory; the bytes live as long as any holder.
  const std::shared_ptr<std::byte>& handle() const { return data_; }

 private:
  std::shared_ptr<std::byte> data_;
  std::size_t size_ = 0;
};

/// Hands out aligned buffers, keeps what comes back for the next one, and counts.
/// All functions may be called from any thread. Buffers may outlive their pool.
class BufferPool {
 public:
  /// Keeps at most `cache_limit_bytes` of unused memory.
  explicit BufferPool(std::size_t cache_limit_bytes);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A buffer with unspecified contents; `bytes` may be 0. Throws Unavailable if there is no
  /// memory.
  Buffer allocate(std::size_t bytes);

  MemoryStats stats() const;

  /// Makes the present use the new peak, to measure what follows.
  void reset_peak();

  /// Gives unused memory back to the system.
  void trim();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace fanin
