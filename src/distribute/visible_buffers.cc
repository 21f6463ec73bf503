#include "distribute/visible_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace fanin {
namespace {

/// Between processes an address is where it lies in the registered memory; threads have none.
using Address = std::uint64_t;

struct Place {
  Address input = 0;
  Address output = 0;
};

class Bounds {
 public:
  Bounds(Transport& transport, int rank)
      : base_(reinterpret_cast<Address>(transport.registered(rank).data())),
        byte_count_(transport.registered(rank).size()) {}

  bool contain(Address offset, std::size_t bytes) const {
    return base_ == 0 || (offset <= byte_count_ && bytes <= byte_count_ - offset);
  }
  Address base() const { return base_; }

 private:
  Address base_;
  std::size_t byte_count_;
};

}  // namespace

VisibleBuffers::VisibleBuffers(std::span<const std::size_t> counts, const Arithmetic& arithmetic,
                               int rank_count)
    : counts_(counts.begin(), counts.end()),
      input_bytes_(arithmetic.size_of(Cell::kInput)),
      result_bytes_(arithmetic.size_of(Cell::kResult)),
      inputs_(counts.size() * static_cast<std::size_t>(rank_count)),
      outputs_(inputs_.size()),
      renewal_counts_(static_cast<std::size_t>(rank_count)),
      last_words_(static_cast<std::size_t>(rank_count)) {}

std::optional<VisibleBuffers::Words> VisibleBuffers::tell(Transport& transport,
                                                          std::span<std::byte> note,
                                                          std::span<const std::byte* const> inputs,
                                                          std::span<std::byte* const> outputs) {
  if (counts_.size() > 1 && counts_.size() * sizeof(Place) > note.size()) return std::nullopt;
  const Bounds bounds(transport, transport.rank());
  Place place;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    place = {reinterpret_cast<Address>(inputs[i]) - bounds.base(),
             reinterpret_cast<Address>(outputs[i]) - bounds.base()};
    if (!bounds.contain(place.input, counts_[i] * input_bytes_) ||
        !bounds.contain(place.output, counts_[i] * result_bytes_))
      return std::nullopt;
    if (counts_.size() > 1) std::memcpy(note.data() + i * sizeof place, &place, sizeof place);
  }
  const std::optional<std::uint64_t> renewal_count = transport.renewal_count();
  if (!renewal_count) return std::nullopt;
  return Words{*renewal_count, place.input, place.output};
}

void VisibleBuffers::read(Transport& transport, int rank, std::span<const std::byte> note,
                          const Words& words) {
  std::optional<Words>& last_words = last_words_[static_cast<std::size_t>(rank)];
  if (last_words == words) return;
  const Bounds bounds(transport, rank);
  const std::size_t first = static_cast<std::size_t>(rank) * counts_.size();
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    Place place{words[1], words[2]};
    if (counts_.size() > 1) std::memcpy(&place, note.data() + i * sizeof place, sizeof place);
    if (!bounds.contain(place.input, counts_[i] * input_bytes_) ||
        !bounds.contain(place.output, counts_[i] * result_bytes_))
      throw PeerFailure(fmt::format("{} says that tensor {} lies outside of its registered memory",
                                    transport.describe(rank), i));
    inputs_[first + i] = std::bit_cast<const std::byte*>(bounds.base() + place.input);
    auto* const output = std::bit_cast<std::byte*>(bounds.base() + place.output);
    is_kept_known_ &= outputs_[first + i] == output;
    outputs_[first + i] = output;
  }
  renewal_counts_[static_cast<std::size_t>(rank)] = words[0];
  if (counts_.size() == 1) last_words = words;
}

Layout::Range VisibleBuffers::whole_pieces(const std::byte* output, std::size_t bytes,
                                           std::size_t unit) const {
  const std::size_t before = reinterpret_cast<Address>(output) % unit;
  const std::size_t begin = (unit - before) % unit;
  const std::size_t end = (before + bytes) / unit * unit;
  return end < before + begin ? Layout::Range{0, 0} : Layout::Range{begin, end - before};
}

VisiblePlan::Buffers VisibleBuffers::look_up(const Transport& transport) {
  if (!is_kept_known_) find_kept(transport.registered_unit());
  is_kept_known_ = true;
  return {inputs_, outputs_, kept_, renewal_counts_};
}

void VisibleBuffers::find_kept(std::size_t unit) {
  kept_.clear();
  const auto keep = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    if (!kept_.empty() && kept_.back().end == begin)
      kept_.back().end = end;
    else
      kept_.push_back({begin, end});
  };
  std::size_t first = 0;
  for (std::size_t tensor = 0; unit > 1 && tensor < counts_.size(); ++tensor) {
    const std::size_t count = counts_[tensor];
    Layout::Range shared{0, count};  // elements that lie in whole pieces on every rank
    for (std::size_t at = tensor; at < outputs_.size(); at += counts_.size()) {
      const Layout::Range bytes = whole_pieces(outputs_[at], count * result_bytes_, unit);
      shared.begin = std::max(shared.begin, (bytes.begin + result_bytes_ - 1) / result_bytes_);
      shared.end = std::min(shared.end, bytes.end / result_bytes_);
    }
    if (shared.begin >= shared.end) shared = {count, count};
    keep(first, first + shared.begin);
    keep(first + shared.end, first + count);
    first += count;
  }
}

void VisibleBuffers::give_up(Transport& transport, std::span<std::byte* const> outputs) const {
  std::vector<std::span<std::byte>> pieces;
  pieces.reserve(counts_.size());
  const std::size_t unit = transport.registered_unit();
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const Layout::Range bytes = whole_pieces(outputs[i], counts_[i] * result_bytes_, unit);
    if (bytes.begin < bytes.end)
      pieces.emplace_back(outputs[i] + bytes.begin, bytes.end - bytes.begin);
  }
  transport.renew(pieces);
}

}  // namespace fanin
