#include "distribute/request.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/require.h"

namespace fanin {
namespace {

/// The goals of operations that have one, in the order of Request::Operation.
constexpr std::array<std::optional<Goal>, 10> kGoals = {
    std::nullopt, Goal::kAllReduce,     Goal::kReduce, Goal::kBroadcast, Goal::kAllGather,
    std::nullopt, Goal::kReduceScatter, Goal::kGather, Goal::kScatter,   Goal::kAllToAll};

/// FNV-1a, word by word.
class Hash {
 public:
  void add(std::uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8)
      value_ = (value_ ^ (word >> shift & 0xffU)) * 1099511628211U;
  }
  std::uint64_t value() const { return value_ == 0 ? 1 : value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

constexpr std::string_view kRefused = "refused\t";

/// A line of a note: what it is about ("shape"), how a sentence calls it, its value.
struct Line {
  std::string_view subject;
  std::string_view phrase;
  std::string_view value;
};

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

std::vector<Line> lines_of(std::string_view note) {
  std::vector<Line> lines;
  while (!note.empty()) {
    std::string_view line = take_until(note, '\n');
    const std::string_view subject = take_until(line, '\t');
    const std::string_view phrase = take_until(line, '\t');
    lines.push_back({subject, phrase, line});
  }
  return lines;
}

bool has_rows(const Request& request) {
  const std::optional<Goal> goal = kGoals[static_cast<std::size_t>(request.operation)];
  return goal && has_parts(*goal);
}

ErrorKind kind_of(std::string_view subject) {
  if (subject == "shape" || subject == "extents") return ErrorKind::kShapeMismatch;
  if (subject == "dtype") return ErrorKind::kDtypeMismatch;
  return ErrorKind::kRankMismatch;
}

}  // namespace

std::string_view name(Request::Operation operation) {
  if (operation == Request::Operation::kBarrier) return "barrier";
  if (operation == Request::Operation::kSubgroup) return "subgroup";
  return name(goal_of(operation));
}

Goal goal_of(Request::Operation operation) {
  return kGoals[static_cast<std::size_t>(operation)].value();
}

std::uint64_t fingerprint_of(const Request& request) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(request.operation));
  hash.add(static_cast<std::uint64_t>(request.op));
  hash.add(static_cast<std::uint64_t>(request.accumulation));
  hash.add(request.algorithm.size());
  for (const char letter : request.algorithm) hash.add(static_cast<unsigned char>(letter));
  hash.add(static_cast<std::uint64_t>(request.root.value_or(-1)));
  hash.add(request.items.size());
  for (const Request::Item& item : request.items) {
    hash.add(static_cast<std::uint64_t>(item.dtype));
    hash.add(item.shape.rank());
    for (const std::int64_t dim : item.shape.dims()) hash.add(static_cast<std::uint64_t>(dim));
  }
  hash.add(request.extents.numbers().size());
  for (const std::int64_t rows : request.extents.numbers())
    hash.add(static_cast<std::uint64_t>(rows));
  hash.add(request.ranks.size());
  for (const int rank : request.ranks) hash.add(static_cast<std::uint64_t>(rank));
  hash.add(static_cast<std::uint64_t>(request.priority));
  return hash.value();
}

std::uint64_t fingerprint_of(std::uint64_t request, std::optional<std::int64_t> step) {
  if (!step) return request;
  Hash hash;
  hash.add(request);
  hash.add(static_cast<std::uint64_t>(*step));
  return hash.value();
}

std::string describe(const Request& request) {
  std::string text(name(request.operation));
  if (request.items.size() == 1) {
    const auto& [dtype, shape] = request.items.front();
    text += fmt::format(" of {}{} {}", has_rows(request) ? "rows of " : "", name(dtype),
                        to_string(shape));
  }
  if (request.items.size() > 1) text += fmt::format(" of {} tensors", request.items.size());
  if (!request.algorithm.empty()) text += fmt::format(" by {}", request.algorithm);
  return text;
}

std::string to_note(const Request& request, std::optional<std::int64_t> step,
                    std::size_t most_bytes) {
  std::string note;
  const auto add = [&](std::string_view subject, std::string_view phrase, std::string_view value) {
    const std::string line = fmt::format("{}\t{}\t{}\n", subject, phrase, value);
    if (note.size() + line.size() <= most_bytes) note += line;
  };
  add("operation", "called", name(request.operation));
  add("step", "given", step ? fmt::format("step {}", *step) : "no step");
  add("count", "given", fmt::format("{} tensors", request.items.size()));
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    const std::string of = request.items.size() == 1 ? "" : fmt::format(" of tensor {}", i);
    add("dtype", fmt::format("dtype{}", of), name(request.items[i].dtype));
    add("shape", fmt::format("shape{}", of), to_string(request.items[i].shape));
  }
  add("extents", "given", to_string(request.extents));
  add("op", "op", name(request.op));
  add("accumulation", "accumulation", name(request.accumulation));
  add("algorithm", "algorithm", request.algorithm);
  add("root", "root", request.root ? std::to_string(*request.root) : "none");
  add("ranks", "ranks", fmt::format("[{}]", fmt::join(request.ranks, ",")));
  add("priority", "priority", std::to_string(request.priority));
  return note;
}

std::string refusal_note(std::string_view sentence) {
  return std::string(kRefused).append(sentence);
}

void throw_mismatch(std::span<const std::string> notes, std::uint64_t operation) {
  for (std::size_t rank = 0; rank < notes.size(); ++rank)
    if (notes[rank].starts_with(kRefused))
      throw InvalidArgument(ErrorKind::kRankMismatch,
                            fmt::format("operation {}: the arguments of rank {} were refused: {}",
                                        operation, rank, notes[rank].substr(kRefused.size())));
  const std::vector<Line> first = lines_of(notes.front());
  for (std::size_t rank = 1; rank < notes.size(); ++rank) {
    const std::vector<Line> lines = lines_of(notes[rank]);
    for (std::size_t i = 0; i < std::min(lines.size(), first.size()); ++i)
      if (lines[i].value != first[i].value)
        throw InvalidArgument(
            kind_of(first[i].subject),
            fmt::format("operation {}: rank 0 has {} {}, rank {} has {}; all ranks must make the "
                        "same calls in the same order",
                        operation, first[i].phrase, first[i].value, rank, lines[i].value));
  }
  throw InvalidArgument(ErrorKind::kRankMismatch,
                        fmt::format("operation {}: ranks ask for different things, beyond the "
                                    "first tensors that were compared one by one",
                                    operation));
}

}  // namespace fanin
