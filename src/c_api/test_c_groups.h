#pragma once

// Groups of threads, as C has them, for tests.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fanin/fanin.h"

namespace fanin::test {

/// What a call returned and, if it failed, left as the last error of its thread.
struct Outcome {
  std::int32_t code = FANIN_OK;
  std::int32_t kind = FANIN_KIND_NONE;
  std::string message = {};
};

/// To be called on the thread of the call, before another one.
inline Outcome outcome(std::int32_t code) {
  if (code == FANIN_OK) return {};
  return {code, fanin_last_error_kind(), fanin_last_error()};
}

inline void expect_ok(std::int32_t code) { EXPECT_EQ(code, FANIN_OK) << fanin_last_error(); }

/// Expects an error of this kind with a message that matches.
template <typename Message>
void expect_error(std::int32_t code, std::int32_t kind, const Message& message,
                  std::int32_t returned) {
  EXPECT_EQ(returned, code) << fanin_last_error();
  EXPECT_EQ(fanin_last_error_kind(), kind) << fanin_last_error();
  EXPECT_THAT(std::string(fanin_last_error()), message);
}
template <typename Message>
void expect_refused(std::int32_t kind, const Message& message, std::int32_t returned) {
  expect_error(FANIN_INVALID_ARGUMENT, kind, message, returned);
}

/// Ranks that are threads.
class Threads {
 public:
  explicit Threads(int count, double timeout_seconds = 60)
      : groups_(static_cast<std::size_t>(count)) {
    expect_ok(fanin_in_process(count, timeout_seconds, groups_.data()));
  }
  ~Threads() {
    for (fanin_group* group : groups_) fanin_group_free(group);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  fanin_group* operator[](int rank) const { return groups_[static_cast<std::size_t>(rank)]; }

  /// Runs `body(group, rank)` on a thread for each rank.
  void run(const std::function<void(fanin_group*, int)>& body) const {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < static_cast<int>(groups_.size()); ++rank)
      threads.emplace_back([&body, rank, this] { body((*this)[rank], rank); });
  }

  /// The outcome of `call(group, rank)` on a thread for each rank.
  std::vector<Outcome> outcomes(const std::function<std::int32_t(fanin_group*, int)>& call) const {
    std::vector<Outcome> all(groups_.size());
    run([&](fanin_group* group, int rank) {
      all[static_cast<std::size_t>(rank)] = outcome(call(group, rank));
    });
    return all;
  }

 private:
  std::vector<fanin_group*> groups_;
};

/// Options with their size set.
inline fanin_call_options call_options() {
  fanin_call_options options{};
  options.size = sizeof options;
  return options;
}

}  // namespace fanin::test
