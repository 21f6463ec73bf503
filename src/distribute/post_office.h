#pragma once

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "distribute/handle_state.h"
#include "fanin/group.h"
#include "transports/links.h"
#include "transports/transport.h"

namespace fanin {

/// Messages from one rank of a group to another. Several may be under way; whoever waits moves all
/// of them on, and a thread does while there are handles. Any thread may call.
///
/// The first block brings dtype and shape; the receiver answers, and the rest follows.
class PostOffice {
 public:
  PostOffice(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout);
  ~PostOffice();
  PostOffice(const PostOffice&) = delete;
  PostOffice& operator=(const PostOffice&) = delete;

  Transport& transport() { return *transport_; }

  /// As the functions of Group.
  void send(const Tensor& tensor, int to, const PostOptions& options);
  void receive(const TensorView& out, int from, const PostOptions& options);
  Handle start_send(const Tensor& tensor, int to, const PostOptions& options);
  Handle start_receive(const TensorView& out, int from, const PostOptions& options);

 private:
  /// A message on its way.
  struct Transfer {
    bool sends = false;
    int peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t number = 0;  // between these ranks, with this tag, in its epoch
    DType dtype = DType::kFloat32;
    Shape shape = {};
    Tensor tensor = {};             // of one that sends
    std::span<std::byte> out = {};  // of one that receives
    Call call = {};
    bool is_answered = false;
    std::size_t moved_bytes = 0;
    std::int32_t next_block = 0;
    bool is_done = false;
    std::exception_ptr error = nullptr;
    std::shared_ptr<Handle::State> handle = nullptr;

    std::string describe() const;
  };

  Transfer make(bool sends, int peer, DType dtype, const Shape& shape, const PostOptions& options);
  Transfer make_send(const Tensor& tensor, int to, const PostOptions& options);
  Transfer make_receive(const TensorView& out, int from, const PostOptions& options);
  void run(Transfer transfer);
  Handle start(Transfer transfer);
  void run_handles();

  // With the lock:
  bool advance_all();
  bool advance(Transfer& transfer);
  bool advance_send(Transfer& transfer);
  bool advance_receive(Transfer& transfer);
  void post_block(Transfer& transfer);
  void answer(const Transfer& transfer, std::string_view refusal);
  MessageName name_of(const Transfer& transfer, bool is_answer, std::int32_t block) const;
  void wait_for_one();

  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Links> own_links_;  // where the transport has none
  Links& links_;
  std::chrono::duration<double> timeout_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Transfer> transfers_;  // the oldest first
  std::size_t waits_ = 0;          // so far
  std::uint64_t epoch_ = 0;
  // (sends, peer, tag): how many there were in this epoch.
  std::map<std::tuple<bool, int, std::uint32_t>, std::uint64_t> counts_;
  bool ends_ = false;
  std::jthread thread_;  // after all that it uses
};

}  // namespace fanin
