#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fanin/schedule.h"
#include "schedule/memory_program.h"
#include "schedule/message_program.h"
#include "schedule/window_program.h"

namespace fanin {

/// The programs of a schedule's chunks: each that differs once, and which one is whose.
struct MemoryPrograms {
  std::vector<MemoryProgram> programs;
  std::vector<std::uint32_t> of_chunk;
};

/// Proves the schedule and what it is lowered to. Throws InvalidArgument (kBadSchedule) with the
/// sentence of find_error() otherwise.
MemoryPrograms prove_for_memory(const Schedule& schedule, Outputs outputs, Lowering lowering,
                                std::size_t most_nested_sources);
WindowProgram prove_for_windows(const Schedule& schedule);
WindowProgram prove_for_pads(const Schedule& schedule);
MessageProgram prove_for_messages(const Schedule& schedule);

/// A schedule with what it is lowered to, proved once and bound to data of any length. Any thread
/// may ask.
class ProvedSchedule {
 public:
  explicit ProvedSchedule(Schedule schedule) : schedule_(std::move(schedule)) {}

  const Schedule& schedule() const { return schedule_; }

  /// Made when first asked for; throw as above.
  const MemoryPrograms& memory(Outputs outputs, std::size_t most_nested_sources) const;
  const WindowProgram& windows() const;
  const WindowProgram& pads() const;
  const MessageProgram& messages() const;

 private:
  Schedule schedule_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<Outputs, std::size_t>, MemoryPrograms> memory_;
  mutable std::unique_ptr<WindowProgram> windows_;
  mutable std::unique_ptr<WindowProgram> pads_;
  mutable std::unique_ptr<MessageProgram> messages_;
};

}  // namespace fanin
