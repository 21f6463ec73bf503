#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "core/file_descriptor.h"
#include "transports/transport.h"

namespace fanin {

/// The other end of a connection, as the kernel knows it.
struct PeerCredentials {
  pid_t pid;
  uid_t uid;
};

/// A socket file that this process listens at, for packets. Only its user may connect. Goes away
/// with the object.
class ListeningSocket {
 public:
  /// Replaces the file of a process that is gone. Throws InvalidArgument when the path is too long,
  /// its folder does not exist, or something else is there: a live process or another file;
  /// DeadlineExceeded when another process keeps the folder locked.
  explicit ListeningSocket(const std::filesystem::path& path,
                           Deadline deadline = Clock::now() + std::chrono::seconds(10));
  ~ListeningSocket() { remove_file(); }
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  int get() const { return socket_.get(); }

  /// A connection that waits, or none. Never blocks.
  FileDescriptor accept();

  /// Removes the file; connections stay.
  void remove_file();

 private:
  void replace_stale_file();
  bool try_bind();

  std::filesystem::path path_;
  FileDescriptor socket_;
  ino_t inode_ = 0;  // of our file; 0: none
};

/// A connection to the socket at `path`, or none if nobody listens there yet. Throws
/// InvalidArgument for a path that is too long or has no folder, Unavailable when the system
/// refuses.
FileDescriptor try_connect(const std::filesystem::path& path);

PeerCredentials peer_credentials(int socket);

/// What a packet carries: of several files the first. No bytes: the other end is gone.
struct Packet {
  std::vector<std::byte> bytes;
  FileDescriptor file;
};

/// Returns whether the packet could be sent at once. `file`, unless negative, goes with it.
bool send_packet(int socket, std::span<const std::byte> bytes, int file = -1);

/// The next packet. Call it when poll() said that there is something.
Packet receive_packet(int socket);

}  // namespace fanin
