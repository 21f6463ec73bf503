#pragma once

#include <cstddef>

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
  Choice next();

  void tell(Store store, double seconds, std::size_t bytes);

  Store usual() const { return usual_; }

 private:
  void compare(double cached, double streaming);

  Store usual_ = Store::kCached;
  std::size_t until_timed_ = kFirst;
  double usual_cost_ = 0;  // of the write before, if it was timed
  int dissents_ = 0;       // comparisons one after the other that were for the other way

  // Writes before the first comparison, which may be the first to touch their memory, and between
  // two of them: seldom, since one of the writes is the slower way.
  static constexpr std::size_t kFirst = 8;
  static constexpr std::size_t kPeriod = 128;
};

}  // namespace fanin
