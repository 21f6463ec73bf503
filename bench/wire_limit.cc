// The limit of ./bench/run mpi between hosts: an all-reduce of two processes, one on each host,
// that sends and receives all bytes once, both ways at the same time, over one TCP connection.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "rank.h"
#include "run_server.h"

namespace bench {
namespace {

constexpr std::uint16_t kPort = 900;  // below those that MPI takes

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// That of the first rank, BENCH_ADDRESS.
sockaddr_in read_address() {
  const char* const text = std::getenv("BENCH_ADDRESS");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  if (text == nullptr || ::inet_pton(AF_INET, text, &address.sin_addr) != 1)
    throw std::runtime_error("BENCH_ADDRESS is no address; ./bench/run mpi sets it");
  return address;
}

int open_socket() {
  const int line = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (line < 0) throw_errno("socket");
  return line;
}

int accept_other(const sockaddr_in& address) {
  const int listener = open_socket(), yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 1) != 0)
    throw_errno("listen");
  pollfd event{.fd = listener, .events = POLLIN, .revents = 0};
  if (::poll(&event, 1, 30'000) != 1) throw std::runtime_error("the other rank did not connect");
  const int line = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (line < 0) throw_errno("accept");
  ::close(listener);
  return line;
}

int connect_to_first(const sockaddr_in& address) {
  for (int tries = 0; tries < 3000; ++tries) {
    const int line = open_socket();
    if (::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return line;
    ::close(line);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("the first rank does not listen");
}

class Wire {
 public:
  explicit Wire(const Seat& seat)
      : line_(seat.rank == 0 ? accept_other(read_address()) : connect_to_first(read_address())) {
    const int yes = 1;
    ::setsockopt(line_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  ~Wire() { ::close(line_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Adds to `data` what the other rank has in its own; `others` is room for it.
  void sum(std::span<float> data, std::span<float> others, bool spins) const {
    const std::span<const std::byte> out = std::as_bytes(data);
    const std::span<std::byte> in = std::as_writable_bytes(others);
    std::size_t sent = 0, received = 0, added = 0;
    while (sent < out.size() || received < in.size()) {
      const std::size_t before = sent + received;
      if (sent < out.size())
        sent += moved(::send(line_, out.data() + sent, std::min(out.size() - sent, kAtOnce),
                             MSG_DONTWAIT | MSG_NOSIGNAL));
      if (received < in.size()) received += received_now(in.subspan(received));
      // What has not been sent yet must not be overwritten.
      const std::size_t ready = std::min(sent, received) / sizeof(float);
      for (; added < ready; ++added) data[added] += others[added];
      if (!spins && sent + received == before) wait(sent < out.size());
    }
  }

 private:
  static constexpr std::size_t kAtOnce = std::size_t{256} << 10;

  static std::size_t moved(ssize_t count) {
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EAGAIN && errno != EINTR) throw_errno("the other rank");
    return 0;
  }

  std::size_t received_now(std::span<std::byte> room) const {
    const ssize_t count = ::recv(line_, room.data(), std::min(room.size(), kAtOnce), MSG_DONTWAIT);
    if (count == 0) throw std::runtime_error("the other rank is gone");
    return moved(count);
  }

  void wait(bool may_send) const {
    pollfd event{.fd = line_, .events = POLLIN, .revents = 0};
    if (may_send) event.events |= POLLOUT;
    if (::poll(&event, 1, 30'000) == 0) throw std::runtime_error("the other rank is silent");
  }

  const int line_;
};

/// A list is one array.
Task make_task(const Wire& wire, const Request& request) {
  Task task = make_private_tensors(request.counts);
  const float* const end = task.tensors.back().data() + task.tensors.back().size();
  const std::span all(task.tensors.front().data(), end);
  const auto others = std::make_shared<std::vector<float>>(all.size());
  for (const bool spins : {true, false})
    task.calls.push_back(
        {spins ? "spinning" : "sleeping", [=, &wire] { wire.sum(all, *others, spins); }});
  return task;
}

void serve() {
  const Seat seat = take_seat();
  if (seat.size != 2) throw std::invalid_argument("a wire has 2 ends");
  const Wire wire(seat);
  serve_rank(seat, "", [&wire](const Request& request) { return make_task(wire, request); });
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_wire_limit", bench::serve); }
