#include "distribute/registered_pool.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "core/bytes_text.h"

namespace fanin {
namespace {

// Pieces begin on pages, so that what comes back can be given to the system; long ones on huge
// pages, which are asked for.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = 2 << 20;

// What is given back stays mapped up to this size: the next gradient finds it touched.
constexpr std::size_t kKeptBytes = 64 << 20;

std::size_t round_up(std::size_t number, std::size_t step) {
  return (number + step - 1) / step * step;
}

[[noreturn]] void throw_no_room(std::size_t bytes, std::size_t pool_bytes) {
  throw Unavailable(
      fmt::format("there are no {} in one piece of the registered memory, which has {}",
                  bytes_text(bytes), bytes_text(pool_bytes)));
}

}  // namespace

RegisteredPool::RegisteredPool(Transport& transport)
    : memory_(transport.memory_handle()), bytes_(transport.registered(transport.rank())) {
  if (!bytes_.empty()) free_.emplace(0, bytes_.size());
}

Buffer RegisteredPool::allocate(std::size_t bytes) {
  if (bytes == 0) return {};
  // First, so that what is rounded up fits a size_t.
  if (bytes > bytes_.size()) throw_no_room(bytes, bytes_.size());
  const std::size_t step = bytes >= kHugePage ? kHugePage : kPage;
  const std::size_t wanted = round_up(bytes, kPage);
  const std::lock_guard lock(mutex_);
  const auto base = reinterpret_cast<std::uintptr_t>(bytes_.data());
  for (const auto& [offset, length] : free_) {
    const std::size_t begin = round_up(base + offset, step) - base;
    if (begin + wanted > offset + length) continue;
    const std::size_t end = offset + length;
    const std::size_t first = offset;
    free_.erase(first);
    if (begin > first) free_.emplace(first, begin - first);
    if (end > begin + wanted) free_.emplace(begin + wanted, end - begin - wanted);
    if (bytes >= kHugePage) ::madvise(bytes_.data() + begin, wanted, MADV_HUGEPAGE);
    return {std::shared_ptr<std::byte>(bytes_.data() + begin,
                                       [pool = shared_from_this(), begin, wanted](std::byte*) {
                                         pool->give_back(begin, wanted);
                                       }),
            bytes};
  }
  throw_no_room(bytes, bytes_.size());
}

void RegisteredPool::give_back(std::size_t offset, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > kKeptBytes) ::madvise(bytes_.data() + offset, bytes, MADV_REMOVE);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(offset, bytes);
}

}  // namespace fanin
