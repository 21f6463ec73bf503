#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/train/training_arguments.h"

namespace fanin::cli {

/// What `fanin compare --train` is asked for.
struct CompareTrainingsArguments {
  TrainingArguments training = {.epochs = 5};
  std::optional<std::string> methods;
  std::optional<std::string> specs;
  int rounds = 3;
  std::string html;  ///< where the page goes; none if empty
  bool json = false;
};

/// Those that only a comparison of trainings has.
std::vector<Option> add_compare_trainings_options(Command command,
                                                  CompareTrainingsArguments& arguments);

/// Trains in every way, and prints what came out. Throws InvalidArgument for what cannot be, before
/// the first training.
void compare_trainings(const CompareTrainingsArguments& arguments);

}  // namespace fanin::cli
