// Events are kept as bytes, one behind the other, because what costs most in a span besides the two
// looks at the clock is memory that nobody has touched before.

#include "fanin/trace.h"

#include <cstring>
#include <new>

namespace fanin {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

/// An event as it is kept; its numbers follow, and then its name.
struct Head {
  TraceClock::time_point begin;
  TraceClock::duration duration;
  TraceLabel category;
  std::uint8_t name_size;
  std::uint8_t number_count;
};

}  // namespace

/// Some of the events of a track.
class TraceTrack::Block {
 public:
  Block() : bytes_(std::make_unique_for_overwrite<std::byte[]>(kBlockBytes)) {}

  std::size_t room() const { return kBlockBytes - used_; }

  void write(const void* from, std::size_t size) {
    std::memcpy(bytes_.get() + used_, from, size);
    used_ += size;
  }

  /// Appends all events to `events`.
  void read(int track, std::vector<TraceEvent>& events) const {
    std::size_t at = 0;
    const auto read_part = [&](void* to, std::size_t size) {
      std::memcpy(to, bytes_.get() + at, size);
      at += size;
    };
    while (at < used_) {
      Head head;
      read_part(&head, sizeof head);
      TraceEvent& event = events.emplace_back();
      event.category = head.category.text();
      event.track = track;
      event.begin = head.begin;
      event.duration = head.duration;
      event.numbers.reserve(head.number_count);
      for (std::size_t i = 0; i < head.number_count; ++i) {
        TraceNumber number;
        read_part(&number, sizeof number);
        event.numbers.emplace_back(number.label.text(), number.value);
      }
      event.name.resize(head.name_size);
      read_part(event.name.data(), head.name_size);
    }
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t used_ = 0;
};

TraceTrack::TraceTrack(Trace& trace, std::string_view name)
    : trace_(trace), name_(name.substr(0, Trace::kMostNameBytes)) {}

TraceTrack::~TraceTrack() = default;

void TraceTrack::add(const Content& content, TraceClock::time_point end) noexcept {
  const Head head{content.begin, std::max(end - content.begin, TraceClock::duration::zero()),
                  content.category, content.name_size, content.number_count};
  const std::size_t numbers_size = content.number_count * sizeof(TraceNumber);
  const std::lock_guard lock(mutex_);
  Block* block = block_with_room(sizeof head + numbers_size + content.name_size);
  if (block == nullptr) {
    ++dropped_count_;
    return;
  }
  block->write(&head, sizeof head);
  block->write(content.numbers.data(), numbers_size);
  block->write(content.name.data(), content.name_size);
}

/// Null if the trace is full.
TraceTrack::Block* TraceTrack::block_with_room(std::size_t size) {
  if (blocks_.empty() || blocks_.back().room() < size) {
    std::atomic<std::size_t>& held_bytes = trace_.held_bytes_;
    const bool fits = held_bytes.fetch_add(kBlockBytes) + kBlockBytes <= trace_.limit_bytes_;
    try {
      if (fits) return &blocks_.emplace_back();
    } catch (const std::bad_alloc&) {  // a trace that fills the memory must not end the work
    }
    held_bytes -= kBlockBytes;
    return nullptr;
  }
  return &blocks_.back();
}

void TraceTrack::take_into(TraceRecord& record) {
  std::vector<Block> blocks;
  {
    const std::lock_guard lock(mutex_);
    blocks.swap(blocks_);
    record.dropped_count += std::exchange(dropped_count_, 0);
  }
  const int index = static_cast<int>(record.tracks.size());
  record.tracks.push_back(name_);
  for (const Block& block : blocks) block.read(index, record.events);
  trace_.held_bytes_ -= blocks.size() * kBlockBytes;
}

Trace::Trace(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

Trace::~Trace() = default;

TraceTrack* Trace::add_track(std::string_view name) {
  const std::lock_guard lock(mutex_);
  // make_unique cannot reach the constructor.
  tracks_.push_back(std::unique_ptr<TraceTrack>(new TraceTrack(*this, name)));
  return tracks_.back().get();
}

TraceRecord Trace::take() {
  TraceRecord record;
  const std::lock_guard lock(mutex_);
  for (const auto& track : tracks_) track->take_into(record);
  std::ranges::stable_sort(record.events, [](const TraceEvent& a, const TraceEvent& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.duration > b.duration;
  });
  return record;
}

}  // namespace fanin
