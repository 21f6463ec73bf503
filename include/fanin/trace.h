#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fanin {

/// The clock of every trace.
using TraceClock = std::chrono::steady_clock;

/// A text that stands in the program, and so outlives every trace; the compiler takes no other.
class TraceLabel {
 public:
  constexpr TraceLabel() = default;
  consteval TraceLabel(const char* text) : text_(text) {}

  std::string_view text() const { return text_; }

 private:
  const char* text_ = "";
};

/// A number that explains an event: {"bytes", 4096}.
struct TraceNumber {
  TraceLabel label;
  std::int64_t value = 0;
};

/// One thing that was done, as it is read from a trace.
struct TraceEvent {
  std::string name;      ///< which one: "pack 3"
  std::string category;  ///< of which kind: "backward", "pack", "reduce", "wait", "update"
  int track = 0;         ///< an index of TraceRecord::tracks
  TraceClock::time_point begin;
  TraceClock::duration duration = {};
  std::vector<std::pair<std::string, std::int64_t>> numbers = {};

  bool operator==(const TraceEvent&) const = default;
};

/// What a trace has seen.
struct TraceRecord {
  std::vector<std::string> tracks;  ///< their names
  std::vector<TraceEvent> events;   ///< by begin; of those that begin together, the longest first
  std::size_t dropped_count = 0;    ///< events that found the trace full

  bool operator==(const TraceRecord&) const = default;
};

class TraceTrack;

/// What happened when in this process, on some tracks:
///
///     fanin::Trace trace;
///     fanin::TraceTrack* track = trace.add_track("worker 0 communication");
///     {
///       fanin::TraceSpan span(track, "reduce", "pack 3", {{"bytes", 4096}, {"step", 7}});
///       ...
///     }
///     fanin::TraceRecord record = trace.take();
///
/// It holds a limited amount of memory, of which an event takes some 70 bytes: the first events are
/// kept and the others counted. Any thread may call anything.
class Trace {
 public:
  static constexpr std::size_t kDefaultLimitBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMostNameBytes = 255;  ///< of events and tracks; the rest is cut off

  /// The memory is taken when it is needed, in blocks of 64 KiB for each track.
  explicit Trace(std::size_t limit_bytes = kDefaultLimitBytes);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// The track lives as long as the trace.
  TraceTrack* add_track(std::string_view name);

  /// What was added since the last call; this makes room for as much again. Tracks stay.
  TraceRecord take();

 private:
  friend class TraceTrack;

  const std::size_t limit_bytes_;
  std::atomic<std::size_t> held_bytes_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TraceTrack>> tracks_;
};

/// A row of a trace: things of which each follows the others or lies within them, as in the work of
/// one thread (viewers draw others wrongly). Threads wait only for others at the same track, and
/// never long.
class TraceTrack {
 public:
  static constexpr std::size_t kMostNumbers = 4;

  ~TraceTrack();

  /// Adds what was timed elsewhere; TraceSpan is for what is not. An end before the begin counts as
  /// the begin.
  template <std::size_t kCount>
  requires(kCount <= kMostNumbers) void add(TraceLabel category, std::string_view name,
                                            TraceClock::time_point begin,
                                            TraceClock::time_point end,
                                            const TraceNumber (&numbers)[kCount]) {
    add({begin, category, name, numbers}, end);
  }
  void add(TraceLabel category, std::string_view name, TraceClock::time_point begin,
           TraceClock::time_point end) {
    add({begin, category, name, {}}, end);
  }

 private:
  friend class Trace;
  friend class TraceSpan;

  /// What an event says besides its duration, copied.
  struct Content {
    Content(TraceClock::time_point its_begin, TraceLabel its_category, std::string_view its_name,
            std::span<const TraceNumber> its_numbers)
        : begin(its_begin),
          category(its_category),
          name_size(static_cast<std::uint8_t>(std::min(its_name.size(), Trace::kMostNameBytes))),
          number_count(static_cast<std::uint8_t>(its_numbers.size())) {
      std::copy_n(its_name.data(), name_size, name.data());
      std::ranges::copy(its_numbers, numbers.begin());
    }

    TraceClock::time_point begin;
    TraceLabel category;
    std::uint8_t name_size;
    std::uint8_t number_count;
    std::array<TraceNumber, kMostNumbers> numbers;
    std::array<char, Trace::kMostNameBytes> name;  // without a value beyond name_size
  };

  class Block;

  TraceTrack(Trace& trace, std::string_view name);
  void add(const Content& content, TraceClock::time_point end) noexcept;
  Block* block_with_room(std::size_t size);
  void take_into(TraceRecord& record);

  Trace& trace_;
  const std::string name_;
  std::mutex mutex_;
  std::vector<Block> blocks_;
  std::size_t dropped_count_ = 0;
};

/// Adds an event that lasts from its making to its end; nothing, and at no cost, without a track.
class TraceSpan {
 public:
  template <std::size_t kCount>
  requires(kCount <= TraceTrack::kMostNumbers)
      TraceSpan(TraceTrack* track, TraceLabel category, std::string_view name,
                const TraceNumber (&numbers)[kCount])
      : track_(track) {
    if (track != nullptr) content_.emplace(TraceClock::now(), category, name, numbers);
  }
  TraceSpan(TraceTrack* track, TraceLabel category, std::string_view name) : track_(track) {
    if (track != nullptr)
      content_.emplace(TraceClock::now(), category, name, std::span<const TraceNumber>());
  }
  ~TraceSpan() {
    if (content_) track_->add(*content_, TraceClock::now());
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  TraceTrack* track_;
  std::optional<TraceTrack::Content> content_;
};

}  // namespace fanin
