// The limit of ./bench/run allreduce: one rank of an all-reduce between processes that is written
// by hand for this machine. It assumes what a library may not: 2, 4 or 8 ranks that never fail,
// float32, whole lines on their borders, one memory that all ranks have mapped. The best of its
// calls counts.

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>

#include "limit_memory.h"
#include "rank.h"
#include "run_server.h"
#include "shared_sums.h"

namespace bench {
namespace {

std::size_t lines_of(std::size_t elements) {
  return (elements + kFloatsInLine - 1) / kFloatsInLine;
}

struct Part {
  std::size_t begin;
  std::size_t size;
};

template <std::size_t kSize>
class Limit {
 public:
  explicit Limit(const Seat& seat)
      : me_(static_cast<std::size_t>(seat.rank)),
        share_cores_(seat.size > seat.core_count),
        memory_(seat.shared),
        shared_(*reinterpret_cast<Shared*>(seat.shared.data())) {}

  Task make(const Request& request) {
    const std::size_t elements = request.element_count();
    const bool is_registered = request.memory == "registered";
    Task task = is_registered ? make_registered(elements) : make_private_tensors({elements});
    float* const data = task.tensors[0].data();
    const std::size_t lines = lines_of(elements);
    if (elements <= Letter::kMostFloats)
      task.calls.push_back({"a line", [=, this] { send_letters(data, elements); }});
    if (lines <= kMostPublishedLines)
      task.calls.push_back({"published", [=, this] { publish(data, lines); }});
    if (is_registered) {
      task.calls.push_back({"in place", [=, this] { reduce_in_place<false>(lines); }});
      task.calls.push_back({"in place, streaming", [=, this] { reduce_in_place<true>(lines); }});
    } else {
      task.calls.push_back({"staged", [=, this] { stage(data, lines); }});
      task.calls.push_back({"mirrored, streaming", [=, this] { mirror(data, lines); }});
    }
    return task;
  }

 private:
  void await(const std::atomic<std::uint64_t>& count, std::uint64_t wanted) const {
    for (int looks = 0; count.load(std::memory_order_acquire) < wanted; ++looks)
      if (share_cores_ && looks > 50)
        ::sched_yield();
      else
        _mm_pause();
  }

  void await_all(const Flag (&flags)[kMostRanks], std::uint64_t wanted) const {
    for (std::size_t rank = 0; rank < kSize; ++rank) await(flags[rank].count, wanted);
  }

  void raise(Flag (&flags)[kMostRanks], std::uint64_t count) const {
    flags[me_].count.store(count, std::memory_order_release);
  }

  /// Every rank's registered memory begins at another place of a page: stores that stream a little
  /// ahead of loads, modulo 4096, would make these wait.
  float* registered(std::size_t rank) const {
    return reinterpret_cast<float*>(room_of(rank) + rank * 1024);
  }

  std::byte* room_of(std::size_t rank) const {
    const std::size_t room = (memory_.size() - kRegisteredBegin) / kSize / (2 * kMiB) * 2 * kMiB;
    return memory_.data() + kRegisteredBegin + rank * room;
  }

  Task make_registered(std::size_t elements) const {
    const auto give_back = [bytes = kMostRanks * 1024 + elements * sizeof(float)](void* room) {
      ::madvise(room, bytes, MADV_REMOVE);
    };
    return {.tensors = {std::span(registered(me_), elements)},
            .calls = {},
            .memory = std::shared_ptr<void>(room_of(me_), give_back)};
  }

  // Two sets of letters and slots are enough: nobody begins the call after the next before all have
  // published in the next, and so have read what was published in this one.

  void send_letters(float* data, std::size_t elements) {
    const std::uint64_t call = ++letter_calls_;
    Letter(&letters)[kMostRanks] = shared_.letters[call % 2];
    std::copy_n(data, elements, letters[me_].payload);
    letters[me_].count.store(call, std::memory_order_release);
    for (std::size_t rank = 0; rank < kSize; ++rank) await(letters[rank].count, call);
    for (std::size_t i = 0; i < elements; ++i) {
      float sum = letters[0].payload[i];
      for (std::size_t rank = 1; rank < kSize; ++rank) sum += letters[rank].payload[i];
      data[i] = sum;
    }
  }

  void publish(float* data, std::size_t lines) {
    const std::uint64_t call = ++published_calls_;
    auto& slots = shared_.published_slots[call % 2];
    sum_lines<1, 1>({data}, {slots[me_]}, lines);
    raise(shared_.published, call);
    await_all(shared_.published, call);
    std::array<const float*, kSize> sources;
    for (std::size_t rank = 0; rank < kSize; ++rank) sources[rank] = slots[rank];
    sum_lines<kSize, 1>(sources, {data}, lines);
  }

  static Part share_of(std::size_t rank, std::size_t lines) {
    const std::size_t each = (lines + kSize - 1) / kSize;
    const std::size_t begin = std::min(lines, each * rank);
    return {begin, std::min(lines, begin + each) - begin};
  }

  /// Each rank sums its share of everybody's memory into everybody's memory.
  template <bool kStream>
  void reduce_in_place(std::size_t lines) {
    const std::uint64_t call = ++in_place_calls_;
    raise(shared_.entered, call);
    const Part part = share_of(me_, lines);
    std::array<const float*, kSize> sources;
    std::array<float*, kSize> targets;
    for (std::size_t rank = 0; rank < kSize; ++rank)
      sources[rank] = targets[rank] = registered(rank) + part.begin * kFloatsInLine;
    await_all(shared_.entered, call);
    sum_lines<kSize, kSize, kStream>(sources, targets, part.size);
    raise(shared_.left, call);
    await_all(shared_.left, call);
  }

  /// A part of the data that travels together.
  struct Wave {
    std::uint64_t number;  // over all calls; a slot is used again when its last wave was read
    float* data;
    std::size_t lines;

    std::size_t slot() const { return number % kSlots; }
  };

  static Wave wave_of(float* data, std::size_t lines, std::size_t index, std::uint64_t first) {
    const std::size_t begin = index * kWaveLines;
    return {first + index, data + begin * kFloatsInLine, std::min(kWaveLines, lines - begin)};
  }

  /// Where a rank puts the share of `owner` in a wave.
  float* offered(const Wave& wave, std::size_t from, std::size_t owner) const {
    return shared_.offered_slots[wave.slot()][from] +
           share_of(owner, wave.lines).begin * kFloatsInLine;
  }

  /// Every rank offers the others their shares, sums its own, and collects the sums of the others:
  /// three waves are on their way at a time.
  void stage(float* data, std::size_t lines) {
    const std::size_t waves = (lines + kWaveLines - 1) / kWaveLines;
    const auto wave = [&](std::size_t index) { return wave_of(data, lines, index, staged_waves_); };
    for (std::size_t turn = 0; turn < waves + 2; ++turn) {
      if (turn < waves) offer(wave(turn));
      if (turn >= 1 && turn - 1 < waves) reduce(wave(turn - 1));
      if (turn >= 2) collect(wave(turn - 2));
    }
    staged_waves_ += waves;
  }

  void offer(const Wave& wave) {
    if (wave.number >= kSlots) await_all(shared_.collected, wave.number - kSlots + 1);
    for (std::size_t rank = 0; rank < kSize; ++rank) {
      const Part part = share_of(rank, wave.lines);
      if (rank != me_)
        sum_lines<1, 1>({wave.data + part.begin * kFloatsInLine}, {offered(wave, me_, rank)},
                        part.size);
    }
    raise(shared_.offered, wave.number + 1);
  }

  void reduce(const Wave& wave) {
    const Part part = share_of(me_, wave.lines);
    float* const mine = wave.data + part.begin * kFloatsInLine;
    std::array<const float*, kSize> sources;
    for (std::size_t rank = 0; rank < kSize; ++rank)
      sources[rank] = rank == me_ ? mine : offered(wave, rank, me_);
    await_all(shared_.offered, wave.number + 1);
    float* const slot = shared_.reduced_slots[wave.slot()] + part.begin * kFloatsInLine;
    sum_lines<kSize, 2>(sources, {mine, slot}, part.size);
    raise(shared_.reduced, wave.number + 1);
  }

  void collect(const Wave& wave) {
    for (std::size_t rank = 0; rank < kSize; ++rank) {
      if (rank == me_) continue;
      await(shared_.reduced[rank].count, wave.number + 1);
      const Part part = share_of(rank, wave.lines);
      const std::size_t begin = part.begin * kFloatsInLine;
      sum_lines<1, 1>({shared_.reduced_slots[wave.slot()] + begin}, {wave.data + begin}, part.size);
    }
    raise(shared_.collected, wave.number + 1);
  }

  /// Every rank shows all that it has, and sums everything. Streaming stores need not take lines
  /// back from far cores that have read them.
  void mirror(float* data, std::size_t lines) {
    const std::size_t waves = (lines + kWaveLines - 1) / kWaveLines;
    const auto wave = [&](std::size_t index) {
      return wave_of(data, lines, index, mirrored_waves_);
    };
    for (std::size_t turn = 0; turn < waves + 1; ++turn) {
      if (turn < waves) show(wave(turn));
      if (turn >= 1) sum_all(wave(turn - 1));
    }
    mirrored_waves_ += waves;
  }

  void show(const Wave& wave) {
    if (wave.number >= kSlots) await_all(shared_.seen, wave.number - kSlots + 1);
    sum_lines<1, 1, true>({wave.data}, {shared_.mirrored_slots[wave.slot()][me_]}, wave.lines);
    raise(shared_.mirrored, wave.number + 1);
  }

  void sum_all(const Wave& wave) {
    std::array<const float*, kSize> sources;
    for (std::size_t rank = 0; rank < kSize; ++rank)
      sources[rank] = rank == me_ ? wave.data : shared_.mirrored_slots[wave.slot()][rank];
    await_all(shared_.mirrored, wave.number + 1);
    sum_lines<kSize, 1>(sources, {wave.data}, wave.lines);
    raise(shared_.seen, wave.number + 1);
  }

  const std::size_t me_;
  const bool share_cores_;
  const std::span<std::byte> memory_;
  Shared& shared_;
  std::uint64_t letter_calls_ = 0;
  std::uint64_t published_calls_ = 0;
  std::uint64_t in_place_calls_ = 0;
  std::uint64_t staged_waves_ = 0;
  std::uint64_t mirrored_waves_ = 0;
};

template <std::size_t kSize>
void serve_with(const Seat& seat) {
  Limit<kSize> limit(seat);
  serve_rank(seat, "", [&limit](const Request& request) { return limit.make(request); });
}

void serve() {
  const Seat seat = take_seat();
  switch (seat.size) {
    case 2:
      return serve_with<2>(seat);
    case 4:
      return serve_with<4>(seat);
    case 8:
      return serve_with<8>(seat);
    default:
      throw std::invalid_argument("the limit is written for 2, 4 and 8 ranks");
  }
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_allreduce_limit", bench::serve); }
