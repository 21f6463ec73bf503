#pragma once

#include <sys/types.h>

#include "core/file_descriptor.h"

namespace fanin {

/// Tells whether another process is still there.
class ProcessWatch {
 public:
  explicit ProcessWatch(pid_t pid);

  pid_t pid() const { return pid_; }

  /// Whether the process has ended, even if its parent has not noticed yet. Never true for one that
  /// is only stopped.
  bool has_ended();

  /// Whether a signal (or a debugger) has stopped the process.
  bool is_stopped() const;

 private:
  pid_t pid_;
  FileDescriptor pidfd_;  // none: the kernel or a container refuses it
  bool ended_ = false;
};

}  // namespace fanin
