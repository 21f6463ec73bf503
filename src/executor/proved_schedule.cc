#include "executor/proved_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "fanin/error.h"

namespace fanin {
namespace {

void require_proof(const std::optional<std::string>& error, const Schedule& schedule) {
  if (error)
    throw InvalidArgument(ErrorKind::kBadSchedule, fmt::format("{}: {}", schedule.name, *error));
}

template <typename Program>
Program prove_lowered(const Schedule& schedule, Program (*lower)(const Schedule&)) {
  if (const auto error = find_error(schedule))
    throw InvalidArgument(ErrorKind::kBadSchedule, *error);
  Program program = lower(schedule);
  require_proof(find_error(program, schedule), schedule);
  return program;
}

}  // namespace

MemoryPrograms prove_for_memory(const Schedule& schedule, Outputs outputs, Lowering lowering,
                                std::size_t most_nested_sources) {
  if (const auto error = find_error(schedule))
    throw InvalidArgument(ErrorKind::kBadSchedule, *error);
  const StepIndex steps(schedule);
  MemoryPrograms result;
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    MemoryProgram program = lowering == Lowering::kLiteral
                                ? lower_literally(steps, chunk)
                                : lower_to_memory(steps, chunk, outputs, most_nested_sources);
    const auto found = std::ranges::find(result.programs, program);
    result.of_chunk.push_back(static_cast<std::uint32_t>(found - result.programs.begin()));
    if (found != result.programs.end()) continue;
    require_proof(find_error(program, steps, chunk, outputs), schedule);
    result.programs.push_back(std::move(program));
  }
  return result;
}

WindowProgram prove_for_windows(const Schedule& schedule) {
  return prove_lowered(schedule, lower_to_window);
}

WindowProgram prove_for_pads(const Schedule& schedule) {
  return prove_lowered(schedule, lower_to_pads);
}

MessageProgram prove_for_messages(const Schedule& schedule) {
  return prove_lowered(schedule, lower_to_messages);
}

const MemoryPrograms& ProvedSchedule::memory(Outputs outputs,
                                             std::size_t most_nested_sources) const {
  const std::lock_guard lock(mutex_);
  const std::pair key(outputs, most_nested_sources);
  if (const auto found = memory_.find(key); found != memory_.end()) return found->second;
  return memory_
      .emplace(key, prove_for_memory(schedule_, outputs, Lowering::kFused, most_nested_sources))
      .first->second;
}

const WindowProgram& ProvedSchedule::windows() const {
  const std::lock_guard lock(mutex_);
  if (!windows_) windows_ = std::make_unique<WindowProgram>(prove_for_windows(schedule_));
  return *windows_;
}

const WindowProgram& ProvedSchedule::pads() const {
  const std::lock_guard lock(mutex_);
  if (!pads_) pads_ = std::make_unique<WindowProgram>(prove_for_pads(schedule_));
  return *pads_;
}

const MessageProgram& ProvedSchedule::messages() const {
  const std::lock_guard lock(mutex_);
  if (!messages_) messages_ = std::make_unique<MessageProgram>(prove_for_messages(schedule_));
  return *messages_;
}

}  // namespace fanin
