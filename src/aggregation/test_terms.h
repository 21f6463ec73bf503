#pragma once

#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "fanin/indexed_slices.h"

namespace fanin {

// Terms for tests.

/// Numbers whose sum depends on the order, with their signs and sizes far apart.
template <typename T>
std::vector<std::vector<T>> random_terms(std::size_t term_count, std::size_t element_count,
                                         unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::vector<T>> terms(term_count);
  for (auto& term : terms)
    for (std::size_t i = 0; i < element_count; ++i)
      term.push_back(static_cast<T>(normal(random) * (random() % 3 == 0 ? 100.0F : 1.0F)));
  return terms;
}

/// They borrow the terms.
template <typename T>
std::vector<Tensor> views(const std::vector<std::vector<T>>& terms) {
  std::vector<Tensor> tensors;
  tensors.reserve(terms.size());
  for (const auto& term : terms)
    tensors.push_back(Tensor::view<T>(term, {static_cast<std::int64_t>(term.size())}));
  return tensors;
}

template <typename T>
Tensor to_tensor(const std::vector<T>& elements) {
  return Tensor::of<T>(elements, {static_cast<std::int64_t>(elements.size())});
}

template <typename T>
std::vector<std::optional<Value>> to_values(const std::vector<std::vector<T>>& terms) {
  std::vector<std::optional<Value>> values;
  for (const auto& term : terms) values.emplace_back(to_tensor(term));
  return values;
}

/// Whether they are the same bits.
template <typename T>
bool same_bits(const Value& got, const std::vector<T>& wanted) {
  const auto bytes = std::get<Tensor>(got).bytes();
  return bytes.size() == wanted.size() * sizeof(T) &&
         (wanted.empty() || std::memcmp(bytes.data(), wanted.data(), bytes.size()) == 0);
}

/// Rows of two floats in a tensor of shape [5,2].
inline IndexedSlices slices(std::vector<float> values, std::vector<std::int32_t> indices,
                            std::optional<Shape> dense_shape = Shape({5, 2})) {
  const auto count = static_cast<std::int64_t>(indices.size());
  return {Tensor::of<float>(values, {count, 2}), Tensor::of<std::int32_t>(indices, {count}),
          std::move(dense_shape)};
}

}  // namespace fanin
