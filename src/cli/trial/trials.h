#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cli/progress.h"
#include "cli/trial/scenario.h"

namespace fanin::cli {

/// How much of a trial is run. What is drawn by lot depends on the seed alone.
struct TrialSize {
  bool is_quick = false;
  std::uint64_t seed = 1;
};

/// One of the trials: what it is for, how many runs it has, and the runs.
struct TrialKind {
  std::string_view name;
  std::string_view summary;
  std::size_t (*count)(const TrialSize& size);
  void (*run)(const TrialSize& size, Figures& figures, Progress& progress);
};

/// kill, stop, sleep, mismatch, stranger, storm, hostile.
std::span<const TrialKind> trials();

// Those that are not about one rank's mischief have files of their own.
std::size_t count_mismatches(const TrialSize& size);
void run_mismatches(const TrialSize& size, Figures& figures, Progress& progress);
std::size_t count_strangers(const TrialSize& size);
void run_strangers(const TrialSize& size, Figures& figures, Progress& progress);
std::size_t count_storm(const TrialSize& size);
void run_storm(const TrialSize& size, Figures& figures, Progress& progress);

}  // namespace fanin::cli
