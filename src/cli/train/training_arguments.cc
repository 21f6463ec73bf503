#include "cli/train/training_arguments.h"

#include "cli/units.h"
#include "core/require.h"

namespace fanin::cli {
namespace {

constexpr int kUsualWorkers = 4;

OptimizerOptions optimizer_of(const TrainingArguments& arguments) {
  if (arguments.optimizer == "sgd")
    return SgdOptions{.learning_rate = arguments.learning_rate.value_or(0.05),
                      .momentum = arguments.momentum};
  require(arguments.optimizer == "adam", ErrorKind::kBadOption,
          "--optimizer {} is not known; use sgd or adam", arguments.optimizer);
  return AdamOptions{.learning_rate = arguments.learning_rate.value_or(0.001)};
}

}  // namespace

training::TrainOptions TrainingArguments::options(std::optional<int> group_size) const {
  training::TrainOptions options;
  options.worker_count = workers.value_or(group_size.value_or(kUsualWorkers));
  options.devices_per_worker = devices;
  options.bytes_per_pack =
      bytes_per_pack == "auto" ? 0 : static_cast<std::int64_t>(parse_bytes(bytes_per_pack));
  options.optimizer = optimizer_of(*this);
  options.epoch_count = epochs;
  options.batch_size = batch;
  options.seed = seed;
  options.width = width;
  return options;
}

std::vector<Option> add_training_options(Command command, TrainingArguments& arguments) {
  return {command.add_option("--workers", arguments.workers,
                             "Threads that take the part of workers, 4 unless told; under a "
                             "launcher there is one for each process"),
          command.add_option("--devices", arguments.devices, "Replicas of each worker")
              .with_default()
              .in_range(1, 64),
          command
              .add_option("--bytes-per-pack", arguments.bytes_per_pack,
                          "The most that a pack holds, such as 256K; auto measures and chooses")
              .with_default(),
          command.add_option("--optimizer", arguments.optimizer, "sgd or adam").with_default(),
          command.add_option("--learning-rate", arguments.learning_rate,
                             "0.05 for sgd and 0.001 for adam unless told"),
          command.add_option("--momentum", arguments.momentum, "Of sgd").with_default(),
          command.add_option("--epochs", arguments.epochs, "Passes over the 1437 images")
              .with_default()
              .in_range(1, 10'000),
          command.add_option("--batch", arguments.batch,
                             "Images of a step, of all replicas together; 64 unless told, or what "
                             "they can share evenly"),
          command.add_option("--width", arguments.width, "Of the hidden layers")
              .with_default()
              .in_range(1, 16'384)};
}

}  // namespace fanin::cli
