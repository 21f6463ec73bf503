#pragma once

#include <cstddef>

#include "executor/better_way.h"
#include "kernels/fold.h"

namespace fanin {

/// How to write what another core reads next. Through the cache is best where the cores share one;
/// where they are far from each other each line must first be fetched back from its last reader,
/// and stores past the cache are several times faster. Virtual cores move, so both are timed, again
/// and again. Only the writer need know.
class SlotStore {
 public:
  struct Choice {
    Store store;
    bool is_timed;  ///< whether to tell() how long it took
  };

  /// For the next write.
  Choice next() {
    const auto [way, is_timed] = ways_.next();
    return {to_store(way), is_timed};
  }

  void tell(Store store, double seconds, std::size_t bytes) {
    if (bytes > 0)
      ways_.tell(store == Store::kCached ? 0 : 1, seconds / static_cast<double>(bytes));
  }

  Store usual() const { return to_store(ways_.usual()); }

 private:
  static Store to_store(std::size_t way) { return way == 0 ? Store::kCached : Store::kStreaming; }

  // Of caches that are shared, stores through them take 1.2 times as long, of those that are not 4.
  // The first writes may be the first to touch their memory.
  BetterWay ways_{{.leave = {2, 1 / 1.5}, .soon = 8}};
};

}  // namespace fanin
