#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "limit.h"
#include "memory.h"

namespace bench {

/// The buffers of one sum, each in pages of its own: all ones, which every type can add.
class Ones {
 public:
  Ones(Type type, std::size_t bytes, std::size_t source_count, std::size_t target_count)
      : sum_{.type = type, .sources = {}, .targets = {}, .bytes = bytes} {
    for (std::size_t i = 0; i < target_count; ++i) sum_.targets.push_back(make());
    for (std::size_t i = 0; i < source_count; ++i) sum_.sources.push_back(make());
  }
  const Sum& sum() const { return sum_; }

 private:
  std::byte* make() {
    // Buffers that all begin on one border collide in the cache.
    memory_.push_back(std::make_unique<Mapping>(sum_.bytes, memory_.size() % 16 * 4160));
    std::byte* const data = memory_.back()->data();
    const std::uint64_t pattern = one(sum_.type);
    for (std::size_t at = 0; at < sum_.bytes; at += sizeof pattern)
      std::memcpy(data + at, &pattern, sizeof pattern);
    return data;
  }

  /// Eight bytes of ones, whatever the type.
  static std::uint64_t one(Type type) {
    switch (type) {
      case Type::kFloat32:
        return 0x3f8000003f800000U;
      case Type::kFloat64:
        return 0x3ff0000000000000U;
      case Type::kFloat16:
        return 0x3c003c003c003c00U;
      default:
        return 0x3f803f803f803f80U;
    }
  }

  std::vector<std::unique_ptr<Mapping>> memory_;
  Sum sum_;
};

}  // namespace bench
