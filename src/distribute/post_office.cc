#include "distribute/post_office.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/require.h"
#include "transports/host_links.h"

namespace fanin {
namespace {

constexpr std::size_t kBlockBytes = 256 << 10;

/// What stands before the data in the first block; then come the extents.
struct Preamble {
  std::uint32_t dtype = 0;
  std::uint32_t rank = 0;
};

std::size_t preamble_bytes(const Shape& shape) {
  return sizeof(Preamble) + shape.rank() * sizeof(std::int64_t);
}

/// The data that goes with the first block.
std::size_t first_bytes(const Shape& shape, std::size_t all) {
  return std::min(all, kBlockBytes - std::min(kBlockBytes, preamble_bytes(shape)));
}

struct Parcel {
  DType dtype;
  Shape shape;
  std::span<const std::byte> data;
};

Parcel read_first(std::span<const std::byte> bytes) {
  Preamble preamble;
  std::memcpy(&preamble, bytes.data(), sizeof preamble);
  std::vector<std::int64_t> dims(preamble.rank);
  std::memcpy(dims.data(), bytes.data() + sizeof preamble, dims.size() * sizeof(std::int64_t));
  Shape shape(std::move(dims));
  const std::size_t begin = preamble_bytes(shape);
  return {static_cast<DType>(preamble.dtype), std::move(shape), bytes.subspan(begin)};
}

}  // namespace

PostOffice::PostOffice(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout)
    : transport_(std::move(transport)),
      own_links_(transport_->links() == nullptr ? make_host_links(*transport_) : nullptr),
      links_(own_links_ ? *own_links_ : *transport_->links()),
      timeout_(timeout) {}

PostOffice::~PostOffice() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
  changed_.notify_all();
}

std::string PostOffice::Transfer::describe() const {
  return fmt::format("{} of {} {} {} rank {}, tag {} (message {})", sends ? "send" : "receive",
                     name(dtype), to_string(shape), sends ? "to" : "from", peer, tag, number + 1);
}

PostOffice::Transfer PostOffice::make(bool sends, int peer, DType dtype, const Shape& shape,
                                      const PostOptions& options) {
  require(peer >= 0 && peer < transport_->size(), ErrorKind::kBadOption,
          "rank {} does not exist in a group of {}; ranks count from 0", peer, transport_->size());
  require(peer != transport_->rank(), ErrorKind::kBadOption,
          "rank {} can neither send to itself nor receive from itself; copy instead", peer);
  require(!options.timeout || options.timeout->count() > 0, ErrorKind::kBadOption,
          "a timeout must be above 0 s, got {} s", options.timeout.value_or(timeout_).count());
  const std::lock_guard lock(mutex_);
  transport_->listen();
  if (const std::uint64_t now = transport_->epoch(); now != epoch_) {
    epoch_ = now;
    counts_.clear();
  }
  return {.sends = sends,
          .peer = peer,
          .tag = options.tag,
          .number = counts_[{sends, peer, options.tag}]++,
          .dtype = dtype,
          .shape = shape,
          .call = {.epoch = epoch_, .timeout = options.timeout.value_or(timeout_)}};
}

PostOffice::Transfer PostOffice::make_send(const Tensor& tensor, int to,
                                           const PostOptions& options) {
  Transfer transfer = make(true, to, tensor.dtype(), tensor.shape(), options);
  transfer.tensor = tensor;
  return transfer;
}

PostOffice::Transfer PostOffice::make_receive(const TensorView& out, int from,
                                              const PostOptions& options) {
  if (out.bytes.size() != out.shape.element_count() * size_of(out.dtype))
    throw InvalidArgument(
        ErrorKind::kShapeMismatch,
        fmt::format("an output of shape {} has {} bytes instead of {}", to_string(out.shape),
                    out.bytes.size(), out.shape.element_count() * size_of(out.dtype)));
  Transfer transfer = make(false, from, out.dtype, out.shape, options);
  transfer.out = out.bytes;
  return transfer;
}

void PostOffice::send(const Tensor& tensor, int to, const PostOptions& options) {
  run(make_send(tensor, to, options));
}

void PostOffice::receive(const TensorView& out, int from, const PostOptions& options) {
  run(make_receive(out, from, options));
}

Handle PostOffice::start_send(const Tensor& tensor, int to, const PostOptions& options) {
  transport_->require_threads();  // before the message has a number
  return start(make_send(tensor, to, options));
}

Handle PostOffice::start_receive(const TensorView& out, int from, const PostOptions& options) {
  transport_->require_threads();
  return start(make_receive(out, from, options));
}

void PostOffice::run(Transfer transfer) {
  std::unique_lock lock(mutex_);
  const auto mine = transfers_.insert(transfers_.end(), std::move(transfer));
  mine->call.describe = [mine] { return mine->describe(); };
  while (!mine->is_done) {
    if (!advance_all() && !mine->is_done) wait_for_one();
    // The thread of the handles may have something to do.
    lock.unlock();
    lock.lock();
  }
  const std::exception_ptr error = mine->error;
  transfers_.erase(mine);
  if (error) std::rethrow_exception(error);
}

Handle PostOffice::start(Transfer transfer) {
  const std::lock_guard lock(mutex_);
  transfer.handle = std::make_shared<Handle::State>();
  const auto mine = transfers_.insert(transfers_.end(), std::move(transfer));
  mine->call.describe = [mine] { return mine->describe(); };
  // The time counts from here, not from the first wait.
  mine->call.until();
  if (!thread_.joinable()) thread_ = std::jthread([this] { run_handles(); });
  changed_.notify_all();
  return make_handle(mine->handle);
}

void PostOffice::run_handles() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto has_handles = [&] {
      return std::ranges::any_of(transfers_,
                                 [](const Transfer& each) { return each.handle != nullptr; });
    };
    changed_.wait(lock, [&] { return ends_ || has_handles(); });
    if (!has_handles()) return;
    const bool has_moved = advance_all();
    for (auto each = transfers_.begin(); each != transfers_.end();) {
      const auto next = std::next(each);
      if (each->handle && each->is_done) {
        each->handle->finish(each->error);
        transfers_.erase(each);
      }
      each = next;
    }
    if (!has_moved && has_handles()) wait_for_one();
    lock.unlock();
    lock.lock();
  }
}

/// Rests for a moment, for another transfer each time, so that no death stays unseen; what ends the
/// wait for one ends the epoch, so that all end.
void PostOffice::wait_for_one() {
  const auto is_under_way = [](const Transfer& each) { return !each.is_done; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(transfers_, is_under_way));
  if (count == 0) return;
  auto one = std::ranges::find_if(transfers_, is_under_way);
  for (std::size_t skipped = ++waits_ % count; skipped > 0; --skipped)
    one = std::find_if(std::next(one), transfers_.end(), is_under_way);
  try {
    links_.wait(one->peer, one->call);
    for (Transfer& other : transfers_)
      if (!other.is_done && Clock::now() >= other.call.until())
        links_.wait(other.peer, other.call);  // throws
  } catch (const Error& error) {
    transport_->end_epoch(one->call.epoch, {transport_->rank(), error.kind(), error.what()});
    for (Transfer& other : transfers_) {
      if (other.is_done || other.call.epoch != one->call.epoch) continue;
      other.error = std::current_exception();
      other.is_done = true;
    }
  }
}

bool PostOffice::advance_all() {
  bool has_moved = false;
  for (Transfer& transfer : transfers_)
    if (!transfer.is_done) has_moved |= advance(transfer);
  return has_moved;
}

bool PostOffice::advance(Transfer& transfer) {
  try {
    if (transport_->epoch() != transfer.call.epoch)
      throw_epoch_end(transport_->end_of(transfer.call.epoch), transfer.call);
    return transfer.sends ? advance_send(transfer) : advance_receive(transfer);
  } catch (const Error&) {
    transfer.error = std::current_exception();
    transfer.is_done = true;
    return true;
  }
}

MessageName PostOffice::name_of(const Transfer& transfer, bool is_answer,
                                std::int32_t block) const {
  return {.wave = transfer.number,
          .from = is_answer ? 1 : 0,
          .to = static_cast<std::int32_t>(transfer.tag),
          .number = block};
}

void PostOffice::post_block(Transfer& transfer) {
  const std::span<const std::byte> all = transfer.tensor.bytes();
  const bool is_first = transfer.next_block == 0;
  const std::size_t before = is_first ? preamble_bytes(transfer.shape) : 0;
  const std::size_t bytes = is_first ? first_bytes(transfer.shape, all.size())
                                     : std::min(kBlockBytes, all.size() - transfer.moved_bytes);
  Links::Draft draft =
      links_.begin(name_of(transfer, false, transfer.next_block), before + bytes, transfer.call);
  if (is_first) {
    const Preamble preamble{static_cast<std::uint32_t>(transfer.dtype),
                            static_cast<std::uint32_t>(transfer.shape.rank())};
    std::memcpy(draft.bytes.data(), &preamble, sizeof preamble);
    const auto dims = transfer.shape.dims();
    std::ranges::copy(std::as_bytes(std::span(dims)), draft.bytes.data() + sizeof preamble);
  }
  if (bytes > 0) std::memcpy(draft.bytes.data() + before, all.data() + transfer.moved_bytes, bytes);
  links_.send(transfer.peer, std::move(draft));
  transfer.moved_bytes += bytes;
  ++transfer.next_block;
}

bool PostOffice::advance_send(Transfer& transfer) {
  bool has_moved = false;
  if (transfer.next_block == 0) {
    if (!links_.can_send(transfer.peer)) return false;
    post_block(transfer);
    has_moved = true;
  }
  if (!transfer.is_answered) {
    const auto answer = links_.take(transfer.peer, name_of(transfer, true, 0), transfer.call);
    if (!answer) return has_moved;
    if (!answer->bytes.empty())
      throw InvalidArgument(
          ErrorKind::kRankMismatch,
          std::string(reinterpret_cast<const char*>(answer->bytes.data()), answer->bytes.size()));
    transfer.is_answered = has_moved = true;
  }
  while (transfer.moved_bytes < transfer.tensor.bytes().size() && links_.can_send(transfer.peer)) {
    post_block(transfer);
    has_moved = true;
  }
  transfer.is_done =
      transfer.moved_bytes == transfer.tensor.bytes().size() && links_.has_sent_all(transfer.peer);
  return has_moved || transfer.is_done;
}

void PostOffice::answer(const Transfer& transfer, std::string_view refusal) {
  Links::Draft draft = links_.begin(name_of(transfer, true, 0), refusal.size(), transfer.call);
  std::ranges::copy(std::as_bytes(std::span(refusal)), draft.bytes.data());
  links_.send(transfer.peer, std::move(draft));
}

bool PostOffice::advance_receive(Transfer& transfer) {
  bool has_moved = false;
  for (;;) {
    if (transfer.is_answered && transfer.moved_bytes == transfer.out.size()) {
      transfer.is_done = links_.has_sent_all(transfer.peer);  // the answer
      return has_moved || transfer.is_done;
    }
    const auto delivery =
        links_.take(transfer.peer, name_of(transfer, false, transfer.next_block), transfer.call);
    if (!delivery) return has_moved;
    has_moved = true;
    std::span<const std::byte> data = delivery->bytes;
    if (transfer.next_block == 0) {
      Parcel parcel = read_first(data);
      data = parcel.data;
      if (parcel.dtype != transfer.dtype || parcel.shape != transfer.shape) {
        const std::string refusal = fmt::format(
            "rank {} sent {} {} and rank {} wants {} {}, message {} with tag {}; both must be the "
            "same",
            transfer.peer, name(parcel.dtype), to_string(parcel.shape), transport_->rank(),
            name(transfer.dtype), to_string(transfer.shape), transfer.number + 1, transfer.tag);
        answer(transfer, refusal);
        while (!links_.has_sent_all(transfer.peer)) links_.wait(transfer.peer, transfer.call);
        throw InvalidArgument(ErrorKind::kRankMismatch, refusal);
      }
      answer(transfer, "");
      transfer.is_answered = true;
    }
    ++transfer.next_block;
    const std::size_t bytes = std::min(data.size(), transfer.out.size() - transfer.moved_bytes);
    if (bytes > 0) std::memcpy(transfer.out.data() + transfer.moved_bytes, data.data(), bytes);
    transfer.moved_bytes += bytes;
  }
}

}  // namespace fanin
