#pragma once

// Groups of threads, and of processes, for tests.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fanin/group.h"
#include "transports/test_ranks.h"

namespace fanin::test {

using Seconds = std::chrono::duration<double>;

/// Runs `body(group)` on a thread for each rank.
template <typename Body>
void on_all_ranks(std::vector<Group>& groups, Body&& body) {
  std::vector<std::jthread> threads;
  for (Group& group : groups) threads.emplace_back([&body, &group] { body(group); });
}

/// Runs `body(group)` in a process for each rank; what each threw, by rank.
inline std::vector<std::string> in_processes(int size, const std::function<void(Group&)>& body,
                                             Seconds timeout = Seconds(60)) {
  return outcomes({.kind = Kind::kProcesses, .size = size, .window_bytes = 1 << 20},
                  OwningBody([&](std::unique_ptr<Transport> transport) {
                    Group group(std::move(transport), timeout);
                    body(group);
                  }));
}

template <Element T>
Tensor filled(std::size_t count, T value) {
  return Tensor::of(std::span<const T>(std::vector<T>(count, value)),
                    Shape{static_cast<std::int64_t>(count)});
}

/// "" or what the work threw.
inline std::string error_of(const std::function<void()>& work) { return outcome_of(work); }

}  // namespace fanin::test
