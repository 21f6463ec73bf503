#include "engines/mpi_engine.h"

#include <algorithm>
#include <array>
#include <deque>
#include <new>
#include <thread>

#include "core/require.h"
#include "fanin/context.h"

namespace fanin {
namespace {

// Received at a time: what comes beyond that waits in MPI.
constexpr std::size_t kMostReceiving = 16;

class MpiEngine : public Engine {
 public:
  MpiEngine(const FaninMpi& mpi, const void* communicator, std::chrono::duration<double> timeout)
      : mpi_(mpi) {
    const State state = find_state();
    if (state.is_finalized)
      throw Unavailable("MPI_Finalize has been called in this process; join before that");
    if (!state.is_initialized) check(mpi_.initialize(), "MPI_Init_thread");
    int serves = 0;
    check(mpi_.serves_threads(&serves), "MPI_Query_thread");
    serves_threads_ = serves != 0;
    check(mpi_.find_rank(communicator, &rank_, &size_), "MPI_Comm_rank");
    wait_for_all(communicator, timeout);
    check(mpi_.open(communicator, &communicator_, &rank_, &size_), "MPI_Comm_dup");
    hosts_.resize(static_cast<std::size_t>(size_));
    check(mpi_.find_hosts(communicator_, hosts_.data()), "finding ranks of one host");
    sending_.resize(hosts_.size());
  }

  // What is still under way goes with the communicator's memory: MPI may yet read and write it.
  ~MpiEngine() override {
    if (find_state().is_finalized) return;
    for (std::deque<Request>& requests : sending_)
      for (Request& request : requests) leave(request);
    for (Receiving& receiving : receiving_) leave(receiving.request);
  }
  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const std::vector<int>& hosts() const override { return hosts_; }
  bool serves_threads() const override { return serves_threads_; }

  std::string describe() const override {
    std::array<char, 256> text{};
    mpi_.describe(text.data(), text.size());
    const std::string_view line = text.data();  // "Open MPI v4.1.4, package: Debian OpenMPI, ..."
    return std::string(line.substr(0, line.find(',')));
  }

  void meet(std::chrono::duration<double> timeout) override { wait_for_all(nullptr, timeout); }

  void send(int peer, Buffer block) override {
    require_running();
    Request request{.number = 0, .block = std::move(block)};
    check(mpi_.send(communicator_, request.block.bytes().data(), request.block.size(), peer,
                    &request.number),
          "MPI_Isend");
    sending_[static_cast<std::size_t>(peer)].push_back(std::move(request));
  }

  bool can_send(int peer) override {
    return sending_[static_cast<std::size_t>(peer)].size() < kMostUnsent;
  }
  bool has_sent_all(int peer) override { return sending_[static_cast<std::size_t>(peer)].empty(); }

  std::optional<Arrival> advance() override {
    require_running();
    for (std::deque<Request>& requests : sending_)
      while (!requests.empty() && is_done(requests.front())) requests.pop_front();
    // MPI is asked no more than it must be: where ranks share cores, it lets others run each time
    // that nothing has come.
    if (std::optional<Arrival> arrived = take_arrived()) return arrived;
    if (receiving_.size() < kMostReceiving && begin_to_receive()) return take_arrived();
    return std::nullopt;
  }

 private:
  struct Request {
    std::uint64_t number = 0;
    Buffer block;
    bool is_done = false;
  };
  struct Receiving {
    int from = 0;
    Request request;
  };

  struct State {
    bool is_initialized = false;
    bool is_finalized = false;
  };
  State find_state() const noexcept {
    int is_initialized = 0;
    int is_finalized = 0;
    mpi_.find_state(&is_initialized, &is_finalized);  // which cannot fail
    return {is_initialized != 0, is_finalized != 0};
  }

  /// MPI would end the process.
  void require_running() const {
    if (find_state().is_finalized)
      throw Unavailable(
          "MPI_Finalize has been called in this process; a group that uses MPI works until then");
  }

  void check(int error, std::string_view what) const {
    if (error == 0) return;
    std::array<char, 512> text{};
    mpi_.explain(error, text.data(), text.size());
    throw Unavailable(fmt::format("{} failed: {}", what, text.data()));
  }

  /// The ranks of the user's communicator at first, because making another waits as long as MPI
  /// does.
  void wait_for_all(const void* communicator, std::chrono::duration<double> timeout) const {
    Request all;
    check(mpi_.meet(communicator, communicator_, &all.number), "MPI_Ibarrier");
    const auto start = std::chrono::steady_clock::now();
    while (!is_done(all)) {
      if (std::chrono::steady_clock::now() - start >= timeout)
        throw DeadlineExceeded(fmt::format(
            "rank {} waited {:.3g} s, but not all {} ranks of the MPI communicator have joined; "
            "all of them must call join",
            rank_, timeout.count(), size_));
      std::this_thread::yield();
    }
  }

  bool is_done(Request& request) const {
    if (request.is_done) return true;
    int done = 0;
    check(mpi_.test(&request.number, &done), "MPI_Test");
    request.is_done = done != 0;
    return request.is_done;
  }

  bool begin_to_receive() {
    int is_here = 0;
    Receiving next;
    std::size_t bytes = 0;
    std::uint64_t message = 0;
    check(mpi_.probe(communicator_, &is_here, &next.from, &bytes, &message), "MPI_Improbe");
    if (is_here == 0) return false;
    next.request.block = Context::process().buffers().allocate(bytes);
    check(mpi_.receive(message, next.request.block.bytes().data(), bytes, &next.request.number),
          "MPI_Imrecv");
    receiving_.push_back(std::move(next));
    return true;
  }

  /// A short message may be here before a long one that the same rank sent earlier.
  std::optional<Arrival> take_arrived() {
    for (auto each = receiving_.begin(); each != receiving_.end(); ++each) {
      const bool is_first = std::none_of(receiving_.begin(), each, [&](const Receiving& earlier) {
        return earlier.from == each->from;
      });
      if (!is_first || !is_done(each->request)) continue;
      Arrival arrival{each->from, std::move(each->request.block)};
      receiving_.erase(each);
      return arrival;
    }
    return std::nullopt;
  }

  /// Memory of what MPI has not done with stays until the process ends.
  void leave(Request& request) const noexcept {
    int done = 0;
    if (request.is_done || (mpi_.test(&request.number, &done) == 0 && done != 0)) return;
    static_cast<void>(new (std::nothrow) Buffer(std::move(request.block)));
  }

  const FaninMpi& mpi_;
  std::uint64_t communicator_ = 0;
  int rank_ = 0;
  int size_ = 1;
  bool serves_threads_ = false;
  std::vector<int> hosts_;
  std::vector<std::deque<Request>> sending_;  // by rank
  std::deque<Receiving> receiving_;           // in the order in which they began to come
};

}  // namespace

std::unique_ptr<Engine> open_mpi(const MpiChoice& choice, const void* communicator,
                                 std::chrono::duration<double> timeout) {
  return std::make_unique<MpiEngine>(load_mpi(choice), communicator, timeout);
}

}  // namespace fanin
