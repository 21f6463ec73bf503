#pragma once

// Groups of threads, and of processes, for tests.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <mutex>
#include <span>
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

/// Whether two rows are the same to the bit: quick, where == of vectors, not optimised, is slow.
inline bool are_same(std::span<const float> left, std::span<const float> right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size_bytes()) == 0);
}

/// Rows that `make` makes when first asked for. Once made they are read without a lock, which would
/// put the ranks' calls in order for a sanitizer.
class Rows {
 public:
  explicit Rows(std::vector<float> (*make)(int index)) : make_(make) {}

  /// The first elements of a row.
  std::span<const float> first(int index, std::size_t count) {
    const auto at = static_cast<std::size_t>(index);
    std::call_once(made_.at(at), [&] { rows_[at] = make_(index); });
    return std::span(rows_[at]).first(count);
  }

 private:
  static constexpr std::size_t kMostRows = 9;

  std::vector<float> (*make_)(int index);
  std::array<std::once_flag, kMostRows> made_;
  std::array<std::vector<float>, kMostRows> rows_;
};

/// The tensor without a copy.
inline Tensor tensor_over(std::span<const float> numbers) {
  return Tensor::view(numbers, Shape{static_cast<std::int64_t>(numbers.size())});
}

/// "" or what the work threw.
inline std::string error_of(const std::function<void()>& work) { return outcome_of(work); }

}  // namespace fanin::test
