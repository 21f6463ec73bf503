#pragma once

#include <sys/types.h>

#include <filesystem>

#include "core/file_descriptor.h"

namespace fanin::cli {

/// A temporary folder for the ranks to meet in, and a small process that cleans up if this one is
/// killed: it ends what was started and removes the folder. Otherwise the destructor does the
/// latter.
class Caretaker {
 public:
  Caretaker();
  ~Caretaker();
  Caretaker(const Caretaker&) = delete;
  Caretaker& operator=(const Caretaker&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  /// The process group is to be ended if this process is killed, until it is dismissed.
  void watch(pid_t group) { tell(group); }
  void dismiss(pid_t group) { tell(-group); }

 private:
  void tell(pid_t message);

  std::filesystem::path folder_;
  FileDescriptor line_;
  pid_t pid_ = -1;
};

}  // namespace fanin::cli
