#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

enum class Type : std::uint8_t { kFloat32, kFloat64, kFloat16, kBFloat16 };

/// One sum: each target = sources[0] + sources[1] + ... Buffers lie on 64-byte borders.
struct Sum {
  Type type;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  std::size_t bytes;  // of each buffer, a multiple of 64
};

/// One way to run a sum as fast as this machine can: a plain loop, written by hand for it.
struct Way {
  std::string name;
  void (*run)(const Sum& sum);
};

/// All ways: one and two threads, streaming or not, in blocks or not. The best of them is the
/// limit. The second thread runs while a TwoThreads lives.
std::span<const Way> ways();

/// Keeps a second thread spinning, for ways that use two.
class TwoThreads {
 public:
  TwoThreads();
  ~TwoThreads();
  TwoThreads(const TwoThreads&) = delete;
  TwoThreads& operator=(const TwoThreads&) = delete;
};

}  // namespace bench
