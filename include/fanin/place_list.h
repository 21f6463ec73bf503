#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace fanin {

/// Places in order. A schedule of 512 ranks has half a million steps, most of one or two sources:
/// a few places need no memory of their own.
class PlaceList {
 public:
  using value_type = int;
  using iterator = int*;
  using const_iterator = const int*;

  PlaceList() = default;
  PlaceList(std::initializer_list<int> places)
      : PlaceList(std::span(places.begin(), places.end())) {}
  PlaceList(const std::vector<int>& places) : PlaceList(std::span<const int>(places)) {}

  std::size_t size() const { return span().size(); }
  bool empty() const { return size() == 0; }
  int operator[](std::size_t index) const { return span()[index]; }
  int& operator[](std::size_t index) { return begin()[index]; }
  int& front() { return *begin(); }
  int front() const { return span().front(); }
  int& back() { return end()[-1]; }

  const int* begin() const { return span().data(); }
  const int* end() const { return begin() + size(); }
  int* begin() { return const_cast<int*>(std::as_const(*this).begin()); }
  int* end() { return begin() + size(); }

  void push_back(int place) {
    if (Few* few = std::get_if<Few>(&places_)) {
      if (few->count < few->places.size()) {
        few->places[few->count++] = place;
        return;
      }
      places_ = std::vector<int>(few->places.begin(), few->places.end());
    }
    std::get<std::vector<int>>(places_).push_back(place);
  }

  friend bool operator==(const PlaceList& a, const PlaceList& b) {
    return std::ranges::equal(a.span(), b.span());
  }

 private:
  struct Few {
    std::array<int, 4> places;
    std::uint32_t count;
  };

  explicit PlaceList(std::span<const int> places) {
    if (places.size() > Few{}.places.size()) {
      places_ = std::vector<int>(places.begin(), places.end());
      return;
    }
    Few& few = std::get<Few>(places_);
    std::ranges::copy(places, few.places.begin());
    few.count = static_cast<std::uint32_t>(places.size());
  }

  std::span<const int> span() const {
    if (const Few* few = std::get_if<Few>(&places_)) return {few->places.data(), few->count};
    return std::get<std::vector<int>>(places_);
  }

  std::variant<Few, std::vector<int>> places_ = Few{};
};

}  // namespace fanin
