#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "fanin/buffer.h"
#include "transports/transport.h"

namespace fanin {

/// Hands out a process's registered memory. Buffers keep the pool and the memory alive. Any thread
/// may allocate and let go.
class RegisteredPool : public std::enable_shared_from_this<RegisteredPool> {
 public:
  explicit RegisteredPool(Transport& transport);

  /// Throws Unavailable if no piece is long enough.
  Buffer allocate(std::size_t bytes);

 private:
  void give_back(std::size_t offset, std::size_t bytes);

  std::shared_ptr<void> memory_;
  std::span<std::byte> bytes_;
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes, neighbours joined
};

}  // namespace fanin
