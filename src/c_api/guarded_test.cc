#include "c_api/guarded.h"

#include <array>
#include <new>
#include <stdexcept>
#include <thread>

#include "c_api/test_c_groups.h"
#include "fanin/dtype.h"
#include "fanin/error.h"
#include "fanin/reduce_op.h"

namespace fanin::c_api {
namespace {

using test::expect_error;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Guarded, KeepsCodeKindAndMessageOfErrors) {
  EXPECT_EQ(guarded([] {}), FANIN_OK);
  expect_error(FANIN_INVALID_ARGUMENT, FANIN_KIND_BAD_SPEC, "no such",
               guarded([] { throw InvalidArgument(ErrorKind::kBadSpec, "no such"); }));
  expect_error(FANIN_DEADLINE_EXCEEDED, FANIN_KIND_TIMEOUT, "late",
               guarded([] { throw DeadlineExceeded("late"); }));
  expect_error(FANIN_PEER_FAILURE, FANIN_KIND_PEER_DIED, "gone",
               guarded([] { throw PeerFailure("gone"); }));
  expect_error(FANIN_CANCELLED, FANIN_KIND_CANCELLED, "stop",
               guarded([] { throw Cancelled("stop"); }));
}

TEST(Guarded, LetsNothingThroughThatIsNoErrorOfOurs) {
  expect_error(FANIN_UNAVAILABLE, FANIN_KIND_SYSTEM, "there is no memory left for this call",
               guarded([] { throw std::bad_alloc(); }));
  expect_error(FANIN_UNAVAILABLE, FANIN_KIND_SYSTEM,
               "something that Fanin did not expect: a surprise",
               guarded([] { throw std::logic_error("a surprise"); }));
  expect_error(FANIN_UNAVAILABLE, FANIN_KIND_SYSTEM,
               "something that Fanin did not expect, and without a text", guarded([] { throw 7; }));
}

TEST(Guarded, SuccessLeavesTheLastErrorAsItIs) {
  guarded([] { throw PeerFailure("gone"); });
  EXPECT_EQ(guarded([] {}), FANIN_OK);
  EXPECT_STREQ(fanin_last_error(), "gone");
}

TEST(Guarded, EachThreadHasALastErrorOfItsOwn) {
  guarded([] { throw PeerFailure("here"); });
  std::jthread([] {
    EXPECT_STREQ(fanin_last_error(), "");
    EXPECT_EQ(fanin_last_error_kind(), FANIN_KIND_NONE);
    guarded([] { throw DeadlineExceeded("there"); });
    EXPECT_STREQ(fanin_last_error(), "there");
  }).join();
  EXPECT_STREQ(fanin_last_error(), "here");
  EXPECT_EQ(fanin_last_error_kind(), FANIN_KIND_PEER_DIED);
}

TEST(CHeader, HasTheNumbersOfCpp) {
  EXPECT_EQ(name(ErrorCode{FANIN_INVALID_ARGUMENT}), "INVALID_ARGUMENT");
  EXPECT_EQ(name(ErrorCode{FANIN_DEADLINE_EXCEEDED}), "DEADLINE_EXCEEDED");
  EXPECT_EQ(name(ErrorCode{FANIN_PEER_FAILURE}), "PEER_FAILURE");
  EXPECT_EQ(name(ErrorCode{FANIN_UNAVAILABLE}), "UNAVAILABLE");
  EXPECT_EQ(name(ErrorCode{FANIN_CANCELLED}), "CANCELLED");

  constexpr std::array kKinds{std::pair(FANIN_KIND_EMPTY, "EMPTY"),
                              std::pair(FANIN_KIND_SHAPE_MISMATCH, "SHAPE_MISMATCH"),
                              std::pair(FANIN_KIND_DTYPE_MISMATCH, "DTYPE_MISMATCH"),
                              std::pair(FANIN_KIND_SPARSE_MISMATCH, "SPARSE_MISMATCH"),
                              std::pair(FANIN_KIND_INDEX_OUT_OF_RANGE, "INDEX_OUT_OF_RANGE"),
                              std::pair(FANIN_KIND_BAD_METHOD, "BAD_METHOD"),
                              std::pair(FANIN_KIND_BAD_REDUCE_OP, "BAD_REDUCE_OP"),
                              std::pair(FANIN_KIND_BAD_DESTINATION, "BAD_DESTINATION"),
                              std::pair(FANIN_KIND_BAD_DEVICE, "BAD_DEVICE"),
                              std::pair(FANIN_KIND_BAD_SPEC, "BAD_SPEC"),
                              std::pair(FANIN_KIND_BAD_OPTION, "BAD_OPTION"),
                              std::pair(FANIN_KIND_RANK_MISMATCH, "RANK_MISMATCH"),
                              std::pair(FANIN_KIND_TIMEOUT, "TIMEOUT"),
                              std::pair(FANIN_KIND_PEER_DIED, "PEER_DIED"),
                              std::pair(FANIN_KIND_SYSTEM, "SYSTEM"),
                              std::pair(FANIN_KIND_BAD_FILE, "BAD_FILE"),
                              std::pair(FANIN_KIND_BAD_SCHEDULE, "BAD_SCHEDULE"),
                              std::pair(FANIN_KIND_CANCELLED, "CANCELLED")};
  for (const auto& [number, text] : kKinds) EXPECT_EQ(name(ErrorKind{number}), text);
  EXPECT_ANY_THROW(name(ErrorKind{static_cast<int>(kKinds.size()) + 1}));

  constexpr std::array kDTypes{FANIN_FLOAT16, FANIN_BFLOAT16, FANIN_FLOAT32, FANIN_FLOAT64,
                               FANIN_INT8,    FANIN_INT16,    FANIN_INT32,   FANIN_INT64,
                               FANIN_UINT8,   FANIN_UINT16,   FANIN_UINT32,  FANIN_UINT64};
  constexpr std::array kDTypeNames{"float16", "bfloat16", "float32", "float64", "int8",   "int16",
                                   "int32",   "int64",    "uint8",   "uint16",  "uint32", "uint64"};
  static_assert(kDTypes.size() == kDTypeCount);
  for (std::size_t i = 0; i < kDTypes.size(); ++i)
    EXPECT_EQ(name(static_cast<DType>(kDTypes[i])), kDTypeNames[i]);

  EXPECT_EQ(name(ReduceOp{FANIN_SUM}), "SUM");
  EXPECT_EQ(name(ReduceOp{FANIN_MEAN}), "MEAN");
  EXPECT_EQ(name(ReduceOp{FANIN_MIN}), "MIN");
  EXPECT_EQ(name(ReduceOp{FANIN_MAX}), "MAX");
  EXPECT_EQ(name(ReduceOp{FANIN_PROD}), "PROD");
  EXPECT_EQ(name(Accumulation{FANIN_WIDE}), "wide");
  EXPECT_EQ(name(Accumulation{FANIN_NATIVE}), "native");
}

TEST(CHeader, HasTheVersionOfTheLibrary) {
  EXPECT_THAT(fanin_version(), StartsWith(std::to_string(FANIN_VERSION_MAJOR) + "." +
                                          std::to_string(FANIN_VERSION_MINOR) + "."));
}

}  // namespace
}  // namespace fanin::c_api
