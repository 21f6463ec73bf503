#include "training/train_options.h"

#include <algorithm>

#include "core/require.h"

namespace fanin::training {
namespace {

constexpr int kUsualBatch = 64;

void require_at_least(int lowest, int value, const char* what) {
  require(value >= lowest, ErrorKind::kBadOption, "{} is {}; use {} or more", what, value, lowest);
}

}  // namespace

int check(const TrainOptions& options, std::size_t image_count) {
  require_at_least(1, options.worker_count, "the number of workers");
  require_at_least(1, options.devices_per_worker, "the number of devices");
  require_at_least(1, options.epoch_count, "the number of epochs");
  require_at_least(1, options.pass_count, "the number of passes a step");
  require_at_least(0, options.batch_size, "the batch size");
  require_at_least(1, options.width, "the width");
  require_at_least(0, options.thread_count, "the number of threads");
  require(options.bytes_per_pack >= 0, ErrorKind::kBadOption,
          "bytes_per_pack is {}; use 0 (automatic) or more", options.bytes_per_pack);
  require(!options.clip_norm || *options.clip_norm > 0, ErrorKind::kBadOption,
          "the norm to clip to is {}; use a number above 0", options.clip_norm.value_or(0));
  check(options.method);
  check(options.optimizer);
  const int shares = options.replica_count() * options.pass_count;
  const int usual = std::max(kUsualBatch / shares, 1) * shares;
  const int batch = options.batch_size == 0 ? usual : options.batch_size;
  require(batch % shares == 0, ErrorKind::kBadOption,
          "{} replicas with {} passes a step cannot share a batch of {} evenly; use a multiple of "
          "{}",
          options.replica_count(), options.pass_count, batch, shares);
  require(static_cast<std::size_t>(batch) <= image_count, ErrorKind::kBadOption,
          "a batch of {} is more than the {} images to train with", batch, image_count);
  return batch;
}

}  // namespace fanin::training
