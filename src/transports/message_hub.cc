#include "transports/message_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "fanin/context.h"
#include "fanin/error.h"
#include "transports/packed_number.h"

namespace fanin {
namespace {

// What every engine takes at once: MPICH asks the receiver first from 16 KiB on, over TCP.
constexpr std::size_t kMostBundleBytes = 15'000;

// Ends that are remembered, for those who ask late.
constexpr std::size_t kMostEnds = 16;

using Kind = MessageHeader::Kind;

[[noreturn]] void throw_nonsense(int from, std::string_view what) {
  throw PeerFailure(
      fmt::format("rank {} sent {}; do all ranks run the same version of Fanin?", from, what));
}

/// One rank of each host. Hosts may be containers of one machine whose ranks are on its cores in
/// the same order: so it is not the first of each.
std::vector<int> leaders_of_hosts(std::span<const int> members, const std::vector<int>& hosts) {
  std::map<int, std::vector<int>> by_host;
  for (const int member : members)
    by_host[hosts[static_cast<std::size_t>(member)]].push_back(member);
  std::vector<int> leaders;
  for (auto& [host, ranks] : by_host) {
    std::ranges::sort(ranks);
    leaders.push_back(ranks[leaders.size() % ranks.size()]);
  }
  return leaders;
}

}  // namespace

MessageHub::MessageHub(std::unique_ptr<Engine> engine, std::size_t window_bytes)
    : engine_(std::move(engine)), window_bytes_(window_bytes) {}

MessageHub::Channel& MessageHub::find(int index) {
  std::unique_ptr<Channel>& channel = channels_[static_cast<std::size_t>(index)];
  if (channel) return *channel;
  channel = std::make_unique<Channel>();
  BufferPool& buffers = Context::process().buffers();
  for (int rank = 0; rank < engine_->size(); ++rank) {
    auto voice = std::make_unique<Voice>();
    voice->window = buffers.allocate(window_bytes_);
    voice->note = buffers.allocate(Transport::kNoteBytes);
    channel->voices.push_back(std::move(voice));
  }
  return *channel;
}

bool MessageHub::is_here(int rank) const {
  const std::vector<int>& hosts = engine_->hosts();
  return hosts[static_cast<std::size_t>(rank)] == hosts[static_cast<std::size_t>(engine_->rank())];
}

MessageHub::Channel& MessageHub::open(int index, std::uint64_t opening,
                                      std::span<const int> members) {
  const std::lock_guard lock(mutex_);
  Channel& channel = find(index);
  channel.opening = opening;
  channel.members.assign(members.begin(), members.end());
  std::erase(channel.members, engine_->rank());
  channel.here.clear();
  channel.neighbours.clear();
  channel.others.clear();
  for (const int member : members)
    if (is_here(member)) channel.here.push_back(member);
  for (const int member : channel.members)
    (is_here(member) ? channel.neighbours : channel.others).push_back(member);
  channel.leaders.clear();
  for (const int leader : leaders_of_hosts(members, engine_->hosts())) {
    if (!is_here(leader))
      channel.leaders.push_back(leader);
    else
      channel.leads = leader == engine_->rank();
  }
  channel.relayed = {};
  channel.is_told = {};
  channel.sums = {};
  channel.epoch.store(0, std::memory_order_relaxed);
  channel.ends.clear();
  for (const auto& voice : channel.voices) {
    for (auto& flag : voice->flags) flag.store(0, std::memory_order_relaxed);
    for (auto& value : voice->sum_values) value.store(0, std::memory_order_relaxed);
    voice->has_left.store(false, std::memory_order_relaxed);
    voice->said = {};
    voice->data.clear();
    voice->done_epoch = voice->done_wave = 0;
  }
  channel.is_used = true;
  return channel;
}

MessageHub::Channel& MessageHub::find_open(int index) {
  const std::lock_guard lock(mutex_);
  return find(index);
}

void MessageHub::close(int index) {
  const std::lock_guard lock(mutex_);
  Channel& channel = find(index);
  try {
    say_directly(channel);
    tell(channel.members,
         make_block({.kind = Kind::kLeave, .channel = index, .opening = channel.opening}, 0));
  } catch (const Unavailable&) {  // an engine that has ended carries no farewell
  }
  channel.is_used = false;
  channel.sums = {};
  channel.members.clear();
}

std::uint64_t MessageHub::used_channels() {
  const std::lock_guard lock(mutex_);
  std::uint64_t used = 0;
  for (std::size_t index = 0; index < channels_.size(); ++index)
    if (channels_[index] && channels_[index]->is_used) used |= std::uint64_t{1} << index;
  return used;
}

Buffer MessageHub::make_block(const MessageHeader& header, std::size_t bytes) {
  const HeaderBytes start = to_bytes(header);
  Buffer block = Context::process().buffers().allocate(start.size + bytes);
  std::ranges::copy(start.bytes(), block.bytes().begin());
  return block;
}

std::span<std::byte> MessageHub::content_of(const Buffer& block) {
  return block.bytes().subspan(read_header(block.bytes()).value().size);
}

void MessageHub::send(int peer, const Buffer& block) {
  const std::lock_guard lock(mutex_);
  engine_->send(peer, block);
}

void MessageHub::tell(std::span<const int> peers, const Buffer& block) {
  for (const int peer : peers) engine_->send(peer, block);
}

void MessageHub::say(int index, int flag, std::uint64_t value, const Buffer& block,
                     std::shared_ptr<const HostSum> sum) {
  const std::lock_guard lock(mutex_);
  Channel& channel = find(index);
  const auto at = static_cast<std::size_t>(flag);
  Voice& mine = *channel.voices[static_cast<std::size_t>(engine_->rank())];
  mine.flags[at].store(value, std::memory_order_release);
  if (flag >= kRelayedFlags || channel.others.empty()) return tell(channel.members, block);
  mine.said[at] = block;
  channel.is_told[at] = false;
  channel.sums[at] = std::move(sum);
  tell(channel.neighbours, block);
  relay(index, channel, flag);
}

void MessageHub::say_directly(int index) {
  const std::lock_guard lock(mutex_);
  say_directly(find(index));
}

void MessageHub::say_directly(Channel& channel) {
  const Voice& mine = *channel.voices[static_cast<std::size_t>(engine_->rank())];
  for (std::size_t flag = 0; flag < mine.said.size(); ++flag)
    if (mine.said[flag].size() > 0 && !std::exchange(channel.is_told[flag], true))
      tell(channel.others, mine.said[flag]);
}

/// When all of this host have said it, and this rank leads them.
void MessageHub::relay(int index, Channel& channel, int flag) {
  const auto at = static_cast<std::size_t>(flag);
  const auto value_of = [&](int rank) {
    return channel.voices[static_cast<std::size_t>(rank)]->flags[at].load(
        std::memory_order_relaxed);
  };
  const std::uint64_t value = value_of(engine_->rank());
  if (!channel.leads || channel.relayed[at] >= value || channel.others.empty() ||
      std::ranges::any_of(channel.here, [&](int rank) { return value_of(rank) < value; }))
    return;
  channel.relayed[at] = value;
  std::vector<BundlePart> parts;
  for (const int rank : channel.here)
    parts.push_back({rank, channel.voices[static_cast<std::size_t>(rank)]->said[at].bytes()});
  if (!relay_sum(index, channel, flag, parts)) relay_bundles(index, channel, parts);
}

void MessageHub::relay_bundles(int index, const Channel& channel,
                               std::span<const BundlePart> parts) {
  while (!parts.empty()) {
    const std::span<const BundlePart> next = parts.first(count_that_fit(parts, kMostBundleBytes));
    const Buffer bundle = make_block(
        {.kind = Kind::kBundle, .channel = index, .opening = channel.opening}, bundled_size(next));
    write_bundle(next, content_of(bundle));
    tell(channel.leaders, bundle);
    parts = parts.subspan(next.size());
  }
}

/// If this rank knows how to sum, and all say the same: the sum goes after the bundle of what they
/// say, whose size comes first.
bool MessageHub::relay_sum(int index, Channel& channel, int flag,
                           std::span<const BundlePart> parts) {
  const auto sum = std::exchange(channel.sums[static_cast<std::size_t>(flag)], nullptr);
  const auto said = read_header(parts.front().said);
  if (!sum || !said || said->header.kind != Kind::kFlag) return false;
  const std::size_t bytes = parts.front().said.size() - said->size;
  std::vector<BundlePart> starts;
  std::vector<const std::byte*> terms;
  for (const BundlePart& part : parts) {
    if (part.said.size() != said->size + bytes) return false;
    starts.push_back({part.rank, part.said.first(said->size)});
    if (!std::ranges::equal(starts.back().said, starts.front().said)) return false;
    terms.push_back(part.said.data() + said->size);
  }
  const std::size_t size = bundled_size(starts);
  const Buffer block =
      make_block({.kind = Kind::kSum, .channel = index, .opening = channel.opening},
                 packed_size(size) + size + bytes);
  std::byte* const to = pack_number(size, content_of(block).data());
  write_bundle(starts, {to, size});
  const Buffer result = Context::process().buffers().allocate(bytes);
  (*sum)(terms, result.bytes().data());
  std::ranges::copy(result.bytes(), to + size);
  tell(channel.leaders, block);
  return true;
}

void MessageHub::hear_bundle(Channel& channel, const Engine::Arrival& arrival,
                             std::span<const std::byte> content) {
  const auto parts = read_bundle(content);
  if (!parts) throw_nonsense(arrival.from, "a bundle that ends too early");
  hear_parts(channel, arrival.from, *parts);
  if (!is_here(arrival.from)) tell(channel.neighbours, arrival.block);
}

void MessageHub::hear_parts(Channel& channel, int from, std::span<const BundlePart> parts) {
  for (const BundlePart& part : parts) {
    const auto said = read_header(part.said);
    if (static_cast<std::size_t>(part.rank) >= channel.voices.size() || !said)
      throw_nonsense(from, "a bundle of what is no message");
    hear_flag(*channel.voices[static_cast<std::size_t>(part.rank)], said->header,
              part.said.subspan(said->size));
  }
}

/// The sum first: whoever sees the flags looks for it.
void MessageHub::hear_sum(Channel& channel, const Engine::Arrival& arrival,
                          std::span<const std::byte> content) {
  const auto size = unpack_number(content);
  const auto parts =
      size && *size <= content.size() ? read_bundle(content.first(*size)) : std::nullopt;
  const auto said =
      parts && !parts->empty() ? read_header(parts->front().said) : std::optional<ReadHeader>();
  if (!said || static_cast<std::size_t>(parts->front().rank) >= channel.voices.size())
    throw_nonsense(arrival.from, "a sum that ends too early");
  const MessageHeader& header = said->header;
  const std::span<const std::byte> sum = content.subspan(*size);
  if (header.flag >= kRelayedFlags || header.offset > window_bytes_ ||
      sum.size() > window_bytes_ - header.offset)
    throw_nonsense(arrival.from, "a sum of no flag");
  Voice& first = *channel.voices[static_cast<std::size_t>(parts->front().rank)];
  auto& value = first.sum_values[static_cast<std::size_t>(header.flag)];
  if (header.value > value.load(std::memory_order_relaxed)) {
    if (first.sum.size() == 0) first.sum = Context::process().buffers().allocate(window_bytes_);
    std::ranges::copy(sum, first.sum.bytes().begin() + static_cast<std::ptrdiff_t>(header.offset));
    value.store(header.value, std::memory_order_release);
  }
  hear_parts(channel, arrival.from, *parts);
  if (!is_here(arrival.from)) tell(channel.neighbours, arrival.block);
}

bool MessageHub::can_send(int peer) {
  const std::lock_guard lock(mutex_);
  return engine_->can_send(peer);
}

bool MessageHub::has_sent_all(int peer) {
  const std::lock_guard lock(mutex_);
  return engine_->has_sent_all(peer);
}

bool MessageHub::advance() { return advance(&Engine::advance); }

bool MessageHub::advance_near() { return advance(&Engine::advance_near); }

bool MessageHub::advance(std::optional<Engine::Arrival> (Engine::*next)()) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) {  // another thread does it
    std::this_thread::yield();
    return false;
  }
  const auto arrival = (*engine_.*next)();
  if (arrival) sort(*arrival);
  return arrival.has_value();
}

bool MessageHub::waits_for_neighbours(int index, int flag) {
  const std::lock_guard lock(mutex_);
  const Channel& channel = find(index);
  if (flag >= kRelayedFlags || channel.neighbours.empty() || !engine_->has_near()) return false;
  const auto at = static_cast<std::size_t>(flag);
  const Voice& mine = *channel.voices[static_cast<std::size_t>(engine_->rank())];
  return !channel.leads || channel.relayed[at] < mine.flags[at].load(std::memory_order_relaxed);
}

void MessageHub::sort(const Engine::Arrival& arrival) {
  const auto read = read_header(arrival.block.bytes());
  if (!read) throw_nonsense(arrival.from, "a message without a header");
  const MessageHeader& header = read->header;
  Channel& channel = find(header.channel);
  if (header.opening != channel.opening) return;
  Voice& voice = *channel.voices[static_cast<std::size_t>(arrival.from)];
  const std::span<const std::byte> content = arrival.block.bytes().subspan(read->size);
  switch (header.kind) {
    case Kind::kFlag:
    case Kind::kFlagAndNote:
      hear_flag(voice, header, content);
      if (header.flag < kRelayedFlags && is_here(arrival.from)) {
        voice.said[static_cast<std::size_t>(header.flag)] = arrival.block;
        relay(header.channel, channel, header.flag);
      }
      return;
    case Kind::kBundle:
      return hear_bundle(channel, arrival, content);
    case Kind::kSum:
      return hear_sum(channel, arrival, content);
    case Kind::kData:
      voice.data.push_back({header.epoch, header.name, arrival.block});
      return;
    case Kind::kDone:
      voice.done_epoch = header.epoch;
      voice.done_wave = header.value;
      return;
    case Kind::kEnd:
      return end(header.channel, header.epoch,
                 {.rank = header.ender,
                  .kind = static_cast<ErrorKind>(header.value),
                  .sentence = {reinterpret_cast<const char*>(content.data()), content.size()}});
    case Kind::kLeave:
      voice.has_left.store(true, std::memory_order_release);
      return;
  }
  throw_nonsense(arrival.from, "a message of no kind");
}

void MessageHub::hear_flag(Voice& voice, const MessageHeader& header,
                           std::span<const std::byte> content) {
  const auto flag = static_cast<std::size_t>(header.flag);
  const std::span<std::byte> target =
      header.kind == Kind::kFlagAndNote ? voice.note.bytes() : voice.window.bytes();
  if (flag >= voice.flags.size() || header.offset > target.size() ||
      content.size() > target.size() - header.offset)
    throw_nonsense(-1, "a flag that does not exist");
  // It may come by two ways.
  if (header.value <= voice.flags[flag].load(std::memory_order_relaxed)) return;
  if (!content.empty()) std::memcpy(target.data() + header.offset, content.data(), content.size());
  for (std::size_t i = 0; i < header.words.size(); ++i)
    voice.words[flag][i].store(header.words[i], std::memory_order_relaxed);
  voice.flags[flag].store(header.value, std::memory_order_release);
}

std::optional<Buffer> MessageHub::take(int index, int peer, std::uint64_t epoch,
                                       const MessageName& name) {
  const std::lock_guard lock(mutex_);
  auto& data = find(index).voices[static_cast<std::size_t>(peer)]->data;
  // What belongs to an epoch that is over, nobody takes.
  while (!data.empty() && data.front().epoch < epoch) data.pop_front();
  const auto found = std::ranges::find_if(
      data, [&](const Voice::Data& each) { return each.epoch == epoch && each.name == name; });
  if (found == data.end()) return std::nullopt;
  Buffer block = std::move(found->block);
  data.erase(found);
  return block;
}

std::uint64_t MessageHub::done(int index, int peer, std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  const Voice& voice = *find(index).voices[static_cast<std::size_t>(peer)];
  return voice.done_epoch == epoch ? voice.done_wave : 0;
}

void MessageHub::end(int index, std::uint64_t epoch, const EpochEnd& end) {
  Channel& channel = find(index);
  if (channel.epoch.load(std::memory_order_relaxed) != epoch) return;
  channel.ends[epoch] = end;
  if (channel.ends.size() > kMostEnds) channel.ends.erase(channel.ends.begin());
  const Buffer block = make_block({.kind = Kind::kEnd,
                                   .channel = index,
                                   .opening = channel.opening,
                                   .epoch = epoch,
                                   .value = static_cast<std::uint64_t>(end.kind),
                                   .ender = end.rank},
                                  end.sentence.size());
  std::memcpy(content_of(block).data(), end.sentence.data(), end.sentence.size());
  try {
    tell(channel.members, block);
  } catch (const Unavailable&) {  // an engine that has ended: this rank's epoch has, all the same
  }
  channel.epoch.store(epoch + 1, std::memory_order_release);
}

void MessageHub::end_epoch(int index, std::uint64_t epoch, const EpochEnd& end) {
  const std::lock_guard lock(mutex_);
  this->end(index, epoch, end);
}

std::optional<EpochEnd> MessageHub::end_of(int index, std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  const Channel& channel = find(index);
  const auto found = channel.ends.find(epoch);
  if (found == channel.ends.end()) return std::nullopt;
  return found->second;
}

}  // namespace fanin
