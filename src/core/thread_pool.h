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

  enum class State : std::uint32_t { kIdle, kOffered, kTaken, kStopped };

  /// What one helper is to do, in one cache line that the caller and that helper pass to and fro:
  /// the job goes over with its offer, and the line comes back as its end. `call` and `body` belong
  /// to whoever turned kOffered into kTaken, and to the caller while nothing is offered.
  struct alignas(128) Offer {
    std::atomic<State> state{State::kIdle};
    Call call = nullptr;
    const void* body = nullptr;

    bool try_take();
  };

  void run(int part_count, Call call, const void* body);
  void start_helpers();
  void wake_sleepers(int part_count);
  void help(int index);

  const int thread_count_;
  std::atomic<bool> busy_{false};  // not a mutex: the thread that holds it may ask again
  alignas(128) std::atomic<int> sleepers_{0};  // helpers that need to be woken
  std::atomic<int> waking_core_{-1};           // where the latest caller ran who woke helpers
  std::vector<Offer> offers_;                  // one for each part but the caller's own, the first
  std::vector<std::thread> helpers_;
  int helpers_process_ = 0;  // threads do not follow their process into a fork
};

}  // namespace fanin
