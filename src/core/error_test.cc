#include "fanin/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace fanin {
namespace {

TEST(Error, EveryKindHasANameOfItsOwnAndACode) {
  std::set<std::string_view> names;
  for (int number = 1; number <= static_cast<int>(ErrorKind::kBadSchedule); ++number) {
    const auto kind = static_cast<ErrorKind>(number);
    EXPECT_TRUE(names.insert(name(kind)).second) << name(kind);
    EXPECT_FALSE(name(code_of(kind)).empty());
  }
  EXPECT_THROW(name(ErrorKind{99}), std::logic_error);
  EXPECT_THROW(name(ErrorCode{99}), std::logic_error);
}

TEST(Error, NumbersAndNamesAreStable) {
  EXPECT_EQ(static_cast<int>(ErrorKind::kEmpty), 1);
  EXPECT_EQ(static_cast<int>(ErrorKind::kTimeout), 13);
  EXPECT_EQ(static_cast<int>(ErrorKind::kBadSchedule), 17);
  EXPECT_EQ(name(ErrorKind::kIndexOutOfRange), "INDEX_OUT_OF_RANGE");
  EXPECT_EQ(name(ErrorCode::kInvalidArgument), "INVALID_ARGUMENT");
  EXPECT_EQ(name(ErrorCode::kDeadlineExceeded), "DEADLINE_EXCEEDED");
  EXPECT_EQ(name(ErrorCode::kPeerFailure), "PEER_FAILURE");
  EXPECT_EQ(name(ErrorCode::kUnavailable), "UNAVAILABLE");
}

template <typename Type>
void expect_family(const Type& thrown, ErrorKind kind, ErrorCode code) {
  try {
    throw thrown;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_EQ(error.code(), code);
    EXPECT_STREQ(error.what(), "a sentence");
  }
}

TEST(Error, IsOneFamilyWithFourMembers) {
  expect_family(InvalidArgument(ErrorKind::kBadSpec, "a sentence"), ErrorKind::kBadSpec,
                ErrorCode::kInvalidArgument);
  expect_family(DeadlineExceeded("a sentence"), ErrorKind::kTimeout, ErrorCode::kDeadlineExceeded);
  expect_family(PeerFailure("a sentence"), ErrorKind::kPeerDied, ErrorCode::kPeerFailure);
  expect_family(Unavailable("a sentence"), ErrorKind::kSystem, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace fanin
