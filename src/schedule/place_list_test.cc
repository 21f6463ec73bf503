#include "fanin/place_list.h"

#include <gtest/gtest.h>

#include <numeric>

namespace fanin {
namespace {

std::vector<int> list_of(const PlaceList& places) { return {places.begin(), places.end()}; }

TEST(PlaceList, HoldsFewAndManyAlike) {
  for (const int count : {0, 1, 2, 3, 4, 5, 6, 100}) {
    std::vector<int> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 7);
    const PlaceList at_once(numbers);
    PlaceList one_by_one;
    for (const int number : numbers) one_by_one.push_back(number);
    EXPECT_EQ(list_of(at_once), numbers);
    EXPECT_EQ(list_of(one_by_one), numbers);
    EXPECT_EQ(at_once, one_by_one);
    EXPECT_EQ(at_once.size(), numbers.size());
    EXPECT_EQ(at_once.empty(), numbers.empty());
    PlaceList copy = at_once;
    for (int& place : copy) ++place;
    EXPECT_EQ(list_of(at_once), numbers) << "a copy is its own";
    EXPECT_EQ(copy == at_once, count == 0);
  }
}

TEST(PlaceList, DiffersByAnyPlaceAndByLength) {
  EXPECT_NE((PlaceList{1, 2}), (PlaceList{2, 1}));
  EXPECT_NE((PlaceList{1, 2}), (PlaceList{1, 2, 3}));
  EXPECT_NE((PlaceList{1, 2, 3, 4, 5}), (PlaceList{1, 2, 3, 4, 6}));
  EXPECT_EQ((PlaceList{3, 4})[1], 4);
  EXPECT_EQ((PlaceList{3, 4}).front(), 3);
}

}  // namespace
}  // namespace fanin
