#pragma once

#include <cstddef>
#include <cstdint>

// What Fanin asks of PMIx, by which launchers tell processes who they are, as a table of C
// functions: a module implements it, so that the rest of Fanin works without. Functions return 0 or
// an error number of PMIx.

extern "C" {

struct FaninPmix {
  const char* (*explain)(int error);

  /// Begins; it is ended when the process exits with 0.
  int (*initialize)(std::uint32_t* rank, std::uint32_t* size, std::uint32_t* local_size);

  /// Counts the calls of this function in the process.
  std::uint64_t (*count_join)();

  /// Keeps text under a key, for all ranks to see.
  int (*put)(const char* key, const char* text);

  /// The text of rank `rank`, cut to `size`; waits `seconds` at most.
  int (*get)(std::uint32_t rank, const char* key, int seconds, char* text, std::size_t size);
};

/// The one symbol of the module. A table that changes gets another name.
[[gnu::visibility("default")]] const FaninPmix* fanin_pmix_table_1();
}
