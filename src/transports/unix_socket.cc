#include "transports/unix_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "core/require.h"
#include "core/system_error.h"
#include "transports/rendezvous.h"

namespace fanin {
namespace {

constexpr std::size_t kMaxPacketBytes = 4096;

sockaddr_un address_of(const std::filesystem::path& path) {
  const std::string& text = path.native();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  require(text.size() < sizeof address.sun_path, ErrorKind::kBadOption,
          "rendezvous path \"{}\" has {} bytes, but a socket's path has at most {}; use a shorter "
          "one, for example in /tmp",
          text, text.size(), sizeof address.sun_path - 1);
  text.copy(address.sun_path, text.size());
  return address;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

void require_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  require(std::filesystem::is_directory(folder_of(path), ignored), ErrorKind::kBadOption,
          "rendezvous path \"{}\" is in a folder that does not exist; make it first",
          path.native());
  require(!std::filesystem::is_directory(path, ignored), ErrorKind::kBadOption,
          "rendezvous path \"{}\" is a folder; give the path of a file in it", path.native());
}

FileDescriptor make_socket() {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw_errno("making a Unix socket failed");
  return socket;
}

/// The lock of the path's folder. Asked for again and again: any user who may read the folder can
/// hold it, and flock() itself has no deadline.
FileDescriptor lock_folder_of(const std::filesystem::path& path, Deadline deadline) {
  const Deadline start = Clock::now();
  FileDescriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    if (!folder || (errno != EWOULDBLOCK && errno != EINTR))
      throw_errno("locking the folder of rendezvous path \"{}\" failed", path.native());
    if (Clock::now() >= deadline)
      throw DeadlineExceeded(
          fmt::format("rank 0 waited {} to lock the folder of rendezvous path \"{}\", but another "
                      "process keeps it locked; end that process, or use a path in a folder that "
                      "only the job's user may read",
                      seconds_since(start), path.native()));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return folder;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

ListeningSocket::ListeningSocket(const std::filesystem::path& path, Deadline deadline)
    : path_(path), socket_(make_socket()) {
  require_folder(path_);
  // Two processes must not both find a stale file and replace it; the folder is the lock, so that
  // there is no lock file to leave behind.
  const FileDescriptor lock = lock_folder_of(path_, deadline);
  // A socket file gets the mode of its socket. The umask would be changed for all threads.
  if (::fchmod(socket_.get(), 0600) != 0) throw_errno("setting the mode of a socket failed");
  if (!try_bind()) {
    replace_stale_file();
    if (!try_bind()) throw_errno("binding a socket to \"{}\" failed", path_.native());
  }
  struct stat status {};
  if (::lstat(path_.c_str(), &status) == 0) inode_ = status.st_ino;
  if (::listen(socket_.get(), SOMAXCONN) != 0)
    throw_errno("listening at \"{}\" failed", path_.native());
}

bool ListeningSocket::try_bind() {
  const sockaddr_un address = address_of(path_);
  if (::bind(socket_.get(), generic(address), sizeof address) == 0) return true;
  if (errno != EADDRINUSE) throw_errno("binding a socket to \"{}\" failed", path_.native());
  return false;
}

void ListeningSocket::replace_stale_file() {
  require(std::filesystem::is_socket(std::filesystem::symlink_status(path_)), ErrorKind::kBadOption,
          "rendezvous path \"{}\" exists and is no socket; give a path that is free",
          path_.native());
  const FileDescriptor other = make_socket();
  const sockaddr_un address = address_of(path_);
  const bool is_served = ::connect(other.get(), generic(address), sizeof address) == 0;
  require(!is_served, ErrorKind::kRankMismatch,
          "rendezvous path \"{}\" is served by process {}, another rank 0; a job has one rank 0, "
          "and two jobs need two paths",
          path_.native(), is_served ? peer_credentials(other.get()).pid : 0);
  if (errno != ECONNREFUSED && errno != ENOENT)
    throw_errno("finding out who serves rendezvous path \"{}\" failed", path_.native());
  ::unlink(path_.c_str());
}

FileDescriptor ListeningSocket::accept() {
  FileDescriptor connection(
      ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
    throw_errno("accepting a rank at \"{}\" failed", path_.native());
  return connection;
}

void ListeningSocket::remove_file() {
  struct stat status {};
  if (inode_ != 0 && ::lstat(path_.c_str(), &status) == 0 && status.st_ino == inode_)
    ::unlink(path_.c_str());
  inode_ = 0;
}

FileDescriptor try_connect(const std::filesystem::path& path) {
  const sockaddr_un address = address_of(path);
  require_folder(path);
  FileDescriptor socket = make_socket();
  if (::connect(socket.get(), generic(address), sizeof address) == 0) return socket;
  // Not there yet, left by a dead process, or more come than the kernel keeps in its queue.
  if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) return {};
  throw_errno("connecting to rendezvous path \"{}\" failed", path.native());
}

PeerCredentials peer_credentials(int socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    throw_errno("asking who is at the other end of a socket failed");
  return {credentials.pid, credentials.uid};
}

bool send_packet(int socket, std::span<const std::byte> bytes, int file) {
  iovec part{const_cast<std::byte*>(bytes.data()), std::min(bytes.size(), kMaxPacketBytes)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (file >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

Packet receive_packet(int socket) {
  Packet packet;
  packet.bytes.resize(kMaxPacketBytes);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t received = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  packet.bytes.resize(received > 0 ? static_cast<std::size_t>(received) : 0);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    // Padding leaves room for more than the one that is expected; all that came are ours to close.
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
      FileDescriptor file(number);
      if (!packet.file) packet.file = std::move(file);
    }
  }
  return packet;
}

}  // namespace fanin
