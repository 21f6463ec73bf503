#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "training/train_options.h"

namespace fanin::cli {

/// The options of every command that trains.
struct TrainingArguments {
  std::optional<int> workers = std::nullopt;
  int devices = 2;
  std::string bytes_per_pack = "4M";
  std::string optimizer = "sgd";
  std::optional<double> learning_rate = std::nullopt;
  double momentum = 0.9;
  int epochs = 12;
  int batch = 0;
  std::uint64_t seed = 1;  ///< its option is the command's own, which may use it for more
  int width = 1024;

  /// With spec and method as they are unless told. `group_size` is of the group that a launcher has
  /// made, if one has. Throws InvalidArgument (kBadOption).
  training::TrainOptions options(std::optional<int> group_size) const;
};

/// All but --seed.
std::vector<Option> add_training_options(Command command, TrainingArguments& arguments);

}  // namespace fanin::cli
