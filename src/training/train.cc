#include "training/train.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "core/require.h"
#include "fanin/context.h"

namespace fanin::training {

StepTimes TrainReport::times() const {
  StepTimes all;
  for (const Epoch& epoch : epochs) all.add(epoch.times);
  return all;
}

TrainReport train(Group& group, const Digits& digits, const TrainOptions& options,
                  const OnStep& on_step) {
  TrainReport report;
  report.batch_size = check(options, digits.train.size());
  require(options.worker_count == group.size(), ErrorKind::kBadOption,
          "{} workers were asked for, but the group has {} ranks; there is one for each worker",
          options.worker_count, group.size());
  const auto begin = std::chrono::steady_clock::now();
  Worker worker(group, digits, options);
  report.plan = worker.plan();
  report.transport = group.transport();
  std::int64_t number = 0;
  for (int epoch = 0; epoch < options.epoch_count; ++epoch) {
    const auto steps = batches(digits.train, options.seed, static_cast<std::uint64_t>(epoch),
                               static_cast<std::size_t>(report.batch_size));
    Epoch& news = report.epochs.emplace_back();
    Score mine;
    for (const std::vector<std::size_t>& images : steps) {
      const Worker::Step step = worker.step(images, number++);
      const auto count = static_cast<double>(step.score.image_count);
      mine.loss += step.score.loss * count;
      mine.correct_count += step.score.correct_count;
      mine.image_count += step.score.image_count;
      news.times.add(step.times);
      if (on_step && group.rank() == 0)
        on_step({.epoch = epoch,
                 .step = static_cast<int>(number),
                 .step_count = static_cast<int>(steps.size()) * options.epoch_count,
                 .score = step.score,
                 .times = step.times});
    }
    mine.loss /= static_cast<double>(mine.image_count);
    news.train = worker.sum(mine);
    news.test = worker.evaluate(digits.test);
    report.final_hash = worker.check_equal();
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.peak_bytes = Context::process().buffers().stats().peak_bytes + worker.registered_bytes();
  return report;
}

TrainReport train_in_threads(const Digits& digits, const TrainOptions& options,
                             const OnStep& on_step) {
  check(options, digits.train.size());
  std::vector<Group> groups = in_process(options.worker_count);
  TrainReport report;
  std::mutex mutex;
  std::exception_ptr error;
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < groups.size(); ++rank)
      threads.emplace_back([&, rank] {
        try {
          // Taken along: when a worker goes, the others are told.
          Group group = std::move(groups[rank]);
          TrainReport mine = train(group, digits, options, on_step);
          if (rank == 0) report = std::move(mine);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
        }
      });
  }
  if (error) std::rethrow_exception(error);
  return report;
}

}  // namespace fanin::training
