#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace fanin {

/// Cores that this process may run on, by its affinity.
int usable_core_count();

/// The caller and thread_count - 1 helpers, which start at the first job that wants them. Helpers
/// spin a little after a job, then sleep.
///
/// A part belongs to one thread by preference, so that its data stays in that core's cache, but
/// whoever is free takes it: a helper that sleeps, has no core, or is gone (after a fork) delays
/// nobody.
class ThreadPool {
 public:
  explicit ThreadPool(int thread_count);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int thread_count() const { return thread_count_; }

  /// Calls part(i) once for each i below `part_count`, which is at most thread_count(), and returns
  /// when all are done. `part` must not throw. May be called from any thread, also from within a
  /// part: if the pool is busy, the caller does all the work itself.
  template <typename Part>
  void run(int part_count, const Part& part) {
    auto call = [](const void* body, int index) { (*static_cast<const Part*>(body))(index); };
    run(part_count, call, &part);
  }

 private:
  using Call = void (*)(const void* body, int index);

  struct alignas(128) Line {
    std::atomic<std::uint32_t> value{0};
  };

  void run(int part_count, Call call, const void* body);
  void start_helpers();
  void help(int index);
  /// Runs the part if nobody has taken it in job `job`.
  void take(int index, std::uint32_t job);

  const int thread_count_;
  std::atomic<bool> busy_{false};  // not a mutex: the thread that holds it may ask again
  Call call_ = nullptr;
  const void* body_ = nullptr;
  // Where the latest caller ran who woke helpers.
  std::atomic<int> waking_core_{-1};
  Line job_;                 // number of the latest job: helpers wait for it to change
  Line done_;                // parts finished in all jobs so far
  Line sleepers_;            // helpers that need to be woken
  std::vector<Line> taken_;  // for each part, the latest job in which it was taken
  std::atomic<bool> stop_{false};
  std::vector<std::thread> helpers_;
  int helpers_process_ = 0;  // threads do not follow their process into a fork
};

}  // namespace fanin
