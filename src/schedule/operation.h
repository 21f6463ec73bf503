#pragma once

#include <cstdint>
#include <vector>

namespace fanin {

/// Memory that a lowered operation reads or writes, for one chunk.
struct Ref {
  enum class Kind : std::uint8_t {
    kInput,    // what rank `rank` gave
    kOutput,   // what rank `rank` gets
    kScratch,  // scratch `index` of whoever runs the operation, a partial
    kSlot,     // slot `index` in the window of rank `rank`, or where place `rank` receives
  };
  Kind kind = Kind::kInput;
  int rank = 0;
  int index = 0;

  friend auto operator<=>(const Ref&, const Ref&) = default;
};

/// One n-ary fold: the sources come in groups, each is folded from left to right, then the groups
/// are; all targets get the same. Instead of groups there may be `joins`, which nest to any depth:
/// the expression in postfix, after each source how often the last two values become one.
struct Operation {
  std::vector<Ref> targets;
  std::vector<Ref> sources;
  std::vector<std::uint8_t> group_sizes = {};  // empty: every source stands alone
  bool finishes = false;                       // the targets hold results, not partials
  std::vector<std::uint8_t> joins = {};        // one for each source, or empty

  friend bool operator==(const Operation&, const Operation&) = default;
};

}  // namespace fanin
