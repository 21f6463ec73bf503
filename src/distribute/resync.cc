#include "fanin/resync.h"

#include <fmt/format.h>

#include <cstring>

#include "fanin/error.h"

namespace fanin {
namespace {

constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t hash) {
  const auto take = [&](std::uint64_t word) { hash = (hash ^ word) * kFnvPrime; };
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    take(word);
    bytes = bytes.subspan(sizeof word);
  }
  for (const std::byte each : bytes) take(std::to_integer<std::uint64_t>(each));
  return hash;
}

}  // namespace

void resync(Group& group, std::span<const TensorView> parameters, int root) {
  const MoveOptions options{.epoch = group.epoch()};
  for (const TensorView& parameter : parameters) group.broadcast(parameter, root, options);
}

void resync(Group& group, std::span<Variable> variables, int root) {
  const MoveOptions options{.epoch = group.epoch()};
  for (Variable& variable : variables) {
    const Tensor mine = variable.value();
    Buffer buffer = group.allocate(mine.bytes().size());
    std::memcpy(buffer.bytes().data(), mine.bytes().data(), buffer.size());
    group.broadcast({buffer.bytes(), mine.dtype(), mine.shape()}, root, options);
    variable.assign(Tensor(std::move(buffer), mine.dtype(), mine.shape(), mine.device()));
  }
}

std::uint64_t hash_of(std::span<const TensorView> parameters) {
  std::uint64_t hash = kFnvStart;
  for (const TensorView& parameter : parameters) hash = hash_of(parameter.bytes, hash);
  return hash;
}

std::uint64_t require_equal(Group& group, std::span<const TensorView> parameters) {
  const std::uint64_t mine = hash_of(parameters);
  const std::vector<std::uint64_t> all =
      group.all_gather(Tensor::of({mine}, Shape{1})).to_vector<std::uint64_t>();
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      throw PeerFailure(
          fmt::format("the parameters of rank 0 and rank {} are no longer equal (hashes {:016x} "
                      "and {:016x}); resync() makes them so",
                      rank, all[0], all[rank]));
  return mine;
}

}  // namespace fanin
