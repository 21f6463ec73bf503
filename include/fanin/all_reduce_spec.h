#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace fanin {

/// Which all-reduce tensors and packs take, by their size: a list of algorithms, each with its
/// shards and the largest size that it takes. "pscpu#2:32K:nccl/xring" is: up to 32 KiB by pscpu in
/// 2 shards, what is larger by nccl/xring.
class AllReduceSpec {
 public:
  static constexpr std::int64_t kNoLimit = -1;

  struct Element {
    std::string algorithm;          ///< nccl, xring, rechd, pscpu or psgpu, or a/b of them
    int shard_count = 1;            ///< at least 1
    std::int64_t limit = kNoLimit;  ///< the most bytes, inclusive

    friend bool operator==(const Element&, const Element&) = default;
  };

  /// A string: the algorithm, "#" and the shards if they are more than one, and ":", the limit,
  /// ":" and the next. Limits may end with K, M or G of 1024, in either case.
  /// All throw InvalidArgument (kBadSpec), which names the element and what would be valid: for a
  /// name that is not known, fewer shards than 1, limits that do not rise, a last limit that is not
  /// -1 and anything after that.
  AllReduceSpec(std::string_view text);
  AllReduceSpec(const char* text) : AllReduceSpec(std::string_view(text)) {}
  AllReduceSpec(const std::string& text) : AllReduceSpec(std::string_view(text)) {}
  AllReduceSpec(Element element) : AllReduceSpec(std::vector<Element>{std::move(element)}) {}
  AllReduceSpec(std::initializer_list<Element> elements)
      : AllReduceSpec(std::vector<Element>(elements)) {}
  explicit AllReduceSpec(std::vector<Element> elements);

  const std::vector<Element>& elements() const { return elements_; }

  /// The number of the element that takes this many bytes.
  std::size_t select(std::size_t bytes) const { return select(elements_, bytes); }

  /// The same for elements whose limits rise, the last of which takes every size.
  static std::size_t select(const std::vector<Element>& elements, std::size_t bytes);

  friend bool operator==(const AllReduceSpec&, const AllReduceSpec&) = default;

 private:
  std::vector<Element> elements_;
};

/// The string form, without "#1" and with the largest unit that divides a limit.
std::string to_string(const AllReduceSpec& spec);

/// The list form, [("pscpu", 2, 32768), ("xring", 1, -1)].
std::string to_list_string(const AllReduceSpec& spec);

}  // namespace fanin
