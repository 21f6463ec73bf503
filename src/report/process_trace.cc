// The bytes of a trace, all numbers as varints (7 bits a byte, the lowest first), signed ones
// folded so that small ones are short:
//   magic, version, rank, name, clock offset, dropped count
//   texts: count, then the length and the letters of each
//   tracks: count, then the text of each
//   events: count, then of each: name, category and track; nanoseconds from the begin of the event
//     before; duration; count of numbers, then the label and the value of each

#include "report/process_trace.h"

#include <limits>
#include <string_view>
#include <unordered_map>

#include "core/require.h"

namespace fanin {
namespace {

using std::chrono::nanoseconds;

constexpr std::string_view kMagic = "fanin trace";
constexpr std::uint64_t kVersion = 1;

// 36 years: two such times and a duration add up to less than 2^63.
constexpr nanoseconds kLongest{std::int64_t{1} << 60};

// The shortest forms of these, by which a count is checked before memory is taken for it.
constexpr std::size_t kLeastTextBytes = 1;
constexpr std::size_t kLeastTrackBytes = 1;
constexpr std::size_t kLeastEventBytes = 6;
constexpr std::size_t kLeastNumberBytes = 2;

class Writer {
 public:
  explicit Writer(std::string& bytes) : bytes_(bytes) {}

  void add(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void add_signed(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    add(value < 0 ? ~(bits << 1) : bits << 1);
  }
  void add_text(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }

 private:
  std::string& bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes)
      : rest_(reinterpret_cast<const char*>(bytes.data()), bytes.size()), size_(bytes.size()) {}

  void read_magic() {
    require(rest_.starts_with(kMagic), ErrorKind::kBadFile,
            "is not a trace: its {} bytes do not begin as one", size_);
    rest_.remove_prefix(kMagic.size());
    const std::uint64_t version = read("a version");
    require(version == kVersion, ErrorKind::kBadFile,
            "has version {}; version {} is known: do all ranks run the same Fanin?", version,
            kVersion);
  }

  std::uint64_t read(std::string_view what) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      check(!rest_.empty(), what);
      const auto byte = static_cast<unsigned char>(rest_.front());
      check(shift < 63 || byte <= 1, what);  // of the tenth byte one bit is left
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  std::uint64_t read_below(std::uint64_t limit, std::string_view what) {
    const Reader before = *this;
    const std::uint64_t value = read(what);
    before.check(value < limit, what);
    return value;
  }

  std::int64_t read_signed(std::string_view what) {
    const std::uint64_t folded = read(what);
    return static_cast<std::int64_t>((folded & 1) != 0 ? ~(folded >> 1) : folded >> 1);
  }

  /// A count of things of which each takes at least `least_bytes`.
  std::size_t read_count(std::size_t least_bytes, std::string_view what) {
    return static_cast<std::size_t>(read_below(rest_.size() / least_bytes + 1, what));
  }

  std::string_view read_text(std::string_view what) {
    const auto size = static_cast<std::size_t>(read_below(Trace::kMostNameBytes + 1, what));
    check(size <= rest_.size(), what);
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }

  void check(bool good, std::string_view expected) const {
    require(good, ErrorKind::kBadFile, "is damaged: expected {} at byte {} of {}", expected,
            size_ - rest_.size(), size_);
  }
  void check_end() const { check(rest_.empty(), "its end"); }

 private:
  std::string_view rest_;
  std::size_t size_;
};

/// The texts of a trace, each once.
class Texts {
 public:
  std::uint64_t index_of(std::string_view text) {
    const auto [found, is_new] = indices_.try_emplace(text, indices_.size());
    if (is_new) texts_.push_back(text);
    return found->second;
  }

  void write(Writer& to) const {
    to.add(texts_.size());
    for (const std::string_view text : texts_) to.add_text(text);
  }

 private:
  std::unordered_map<std::string_view, std::uint64_t> indices_;
  std::vector<std::string_view> texts_;
};

/// Times can be any numbers here, so their differences and sums wrap; the check comes afterwards.
std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t begin_of(const TraceEvent& event) {
  return nanoseconds(event.begin.time_since_epoch()).count();
}

void check_name(std::string_view name, std::string_view of_what) {
  require(name.size() <= Trace::kMostNameBytes, ErrorKind::kBadOption,
          "has {} of {} bytes; names have at most {}", of_what, name.size(), Trace::kMostNameBytes);
}

void check_event(const TraceEvent& event, std::size_t track_count) {
  check_name(event.name, "an event with a name");
  check_name(event.category, "an event with a category");
  for (const auto& [label, value] : event.numbers) check_name(label, "a number with a label");
  require(event.track >= 0 && static_cast<std::size_t>(event.track) < track_count,
          ErrorKind::kBadOption, "has \"{}\" on track {}, but {} tracks", event.name, event.track,
          track_count);
  const nanoseconds begin{begin_of(event)};
  require(begin >= -kLongest && begin <= kLongest, ErrorKind::kBadOption,
          "has \"{}\" at {} ns; times are at most {} ns from 0", event.name, begin.count(),
          kLongest.count());
  require(event.duration >= nanoseconds(0) && event.duration <= kLongest, ErrorKind::kBadOption,
          "has \"{}\" that lasts {} ns; events last from 0 to {} ns", event.name,
          nanoseconds(event.duration).count(), kLongest.count());
}

TraceRecord read_record(Reader& from, std::size_t dropped_count) {
  std::vector<std::string_view> texts(from.read_count(kLeastTextBytes, "a count of texts"));
  for (std::string_view& text : texts) text = from.read_text("a text");
  const auto read_text = [&](std::string_view what) {
    return std::string(texts[static_cast<std::size_t>(from.read_below(texts.size(), what))]);
  };

  TraceRecord record{.tracks = {}, .events = {}, .dropped_count = dropped_count};
  record.tracks.resize(from.read_count(kLeastTrackBytes, "a count of tracks"));
  for (std::string& track : record.tracks) track = read_text("the text of a track");
  record.events.resize(from.read_count(kLeastEventBytes, "a count of events"));
  std::int64_t begin = 0;
  for (TraceEvent& event : record.events) {
    event.name = read_text("the text of an event");
    event.category = read_text("the text of a category");
    event.track = static_cast<int>(from.read_below(record.tracks.size(), "a track"));
    begin = wrapping_add(begin, from.read_signed("a begin"));
    event.begin = TraceClock::time_point(nanoseconds(begin));
    event.duration = nanoseconds(from.read_below(kLongest.count() + 1, "a duration"));
    event.numbers.resize(from.read_count(kLeastNumberBytes, "a count of numbers"));
    for (auto& [label, value] : event.numbers) {
      label = read_text("the text of a label");
      value = from.read_signed("a value");
    }
  }
  return record;
}

}  // namespace

void check_process_trace(const ProcessTrace& trace) {
  require(trace.rank >= 0, ErrorKind::kBadOption, "has rank {}; ranks are 0 or more", trace.rank);
  check_name(trace.name, "a name");
  require(trace.clock_offset >= -kLongest && trace.clock_offset <= kLongest, ErrorKind::kBadOption,
          "has a clock {} ns from rank 0's; at most {} make sense", trace.clock_offset.count(),
          kLongest.count());
  for (const std::string& track : trace.record.tracks) check_name(track, "a track with a name");
  for (const TraceEvent& event : trace.record.events)
    check_event(event, trace.record.tracks.size());
}

std::string to_bytes(const ProcessTrace& trace) {
  check_process_trace(trace);
  Texts texts;
  std::string events;
  Writer to_events(events);
  to_events.add(trace.record.tracks.size());
  for (const std::string& track : trace.record.tracks) to_events.add(texts.index_of(track));
  to_events.add(trace.record.events.size());
  std::int64_t begin_before = 0;
  for (const TraceEvent& event : trace.record.events) {
    to_events.add(texts.index_of(event.name));
    to_events.add(texts.index_of(event.category));
    to_events.add(static_cast<std::uint64_t>(event.track));
    to_events.add_signed(begin_of(event) - begin_before);
    begin_before = begin_of(event);
    to_events.add(static_cast<std::uint64_t>(nanoseconds(event.duration).count()));
    to_events.add(event.numbers.size());
    for (const auto& [label, value] : event.numbers) {
      to_events.add(texts.index_of(label));
      to_events.add_signed(value);
    }
  }

  std::string bytes(kMagic);
  Writer to(bytes);
  to.add(kVersion);
  to.add(static_cast<std::uint64_t>(trace.rank));
  to.add_text(trace.name);
  to.add_signed(trace.clock_offset.count());
  to.add(trace.record.dropped_count);
  texts.write(to);
  return bytes + events;
}

ProcessTrace trace_from_bytes(std::span<const std::byte> bytes) {
  Reader from(bytes);
  from.read_magic();
  ProcessTrace trace;
  trace.rank = static_cast<int>(
      from.read_below(std::uint64_t{std::numeric_limits<int>::max()} + 1, "a rank"));
  trace.name = from.read_text("a name");
  trace.clock_offset = nanoseconds(from.read_signed("a clock offset"));
  const auto dropped_count = static_cast<std::size_t>(from.read("a count of dropped events"));
  trace.record = read_record(from, dropped_count);
  from.check_end();
  try {
    check_process_trace(trace);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(ErrorKind::kBadFile, error.what());
  }
  return trace;
}

}  // namespace fanin
