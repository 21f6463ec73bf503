#include "distribute/request.h"

#include <gmock/gmock.h>

#include <set>

#include "core/expect_error.h"
#include "fanin/error.h"

namespace fanin {
namespace {

using testing::HasSubstr;

Request usual() {
  return {.operation = Request::Operation::kAllReduce,
          .algorithm = "direct",
          .items = {{DType::kFloat32, {2, 3}}, {DType::kFloat32, {4}}}};
}

TEST(Request, HasAFingerprintThatTellsEveryDifference) {
  std::vector<Request> requests(12, usual());
  requests[1].operation = Request::Operation::kReduce;
  requests[2].op = ReduceOp::kMax;
  requests[3].accumulation = Accumulation::kNative;
  requests[4].algorithm = "ring";
  requests[5].root = 0;
  requests[6].items[1].dtype = DType::kInt32;
  requests[7].items[0].shape = {3, 2};
  requests[8].ranks = {0};
  requests[9].extents = Extents(3);
  requests[10].extents = Extents(4);
  requests[11].extents = Extents(std::vector<std::int64_t>{3, 4});
  std::set<std::uint64_t> fingerprints;
  for (const Request& request : requests) {
    fingerprints.insert(fingerprint_of(request));
    fingerprints.insert(fingerprint_of(fingerprint_of(request), 0));
    fingerprints.insert(fingerprint_of(fingerprint_of(request), 1));
  }
  EXPECT_EQ(fingerprints.size(), 3 * requests.size());
  EXPECT_EQ(fingerprint_of(fingerprint_of(usual()), std::nullopt), fingerprint_of(usual()));
}

TEST(Request, IsDescribed) {
  EXPECT_EQ(describe(usual()), "all_reduce of 2 tensors by direct");
  EXPECT_EQ(describe(Request{}), "barrier");
  Request one = usual();
  one.items.pop_back();
  EXPECT_EQ(describe(one), "all_reduce of float32 [2,3] by direct");
}

TEST(Request, OfPartsIsDescribedByItsRows) {
  Request parts = usual();
  parts.items.pop_back();
  parts.operation = Request::Operation::kScatter;
  parts.extents = Extents(7);
  EXPECT_EQ(describe(parts), "scatter of rows of float32 [2,3] by direct");
}

TEST(Request, HasTheNameOfItsGoal) {
  for (const auto operation :
       {Request::Operation::kAllReduce, Request::Operation::kReduce, Request::Operation::kBroadcast,
        Request::Operation::kAllGather, Request::Operation::kReduceScatter,
        Request::Operation::kGather, Request::Operation::kScatter, Request::Operation::kAllToAll})
    EXPECT_EQ(name(operation), name(goal_of(operation)));
  EXPECT_EQ(goal_of(Request::Operation::kAllToAll), Goal::kAllToAll);
  EXPECT_EQ(goal_of(Request::Operation::kAllGather), Goal::kAllGather);
  EXPECT_EQ(name(Request::Operation::kBarrier), "barrier");
  EXPECT_EQ(name(Request::Operation::kSubgroup), "subgroup");
}

std::string mismatch(std::span<const std::string> notes) {
  try {
    throw_mismatch(notes, 7);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(Request, NotesSayWhatDiffersFirst) {
  Request other = usual();
  other.items[1].shape = {5};
  other.op = ReduceOp::kMax;
  const std::vector<std::string> notes = {to_note(usual(), 3, 4096), to_note(usual(), 3, 4096),
                                          to_note(other, 3, 4096)};
  EXPECT_THAT(mismatch(notes), HasSubstr("operation 7: rank 0 has shape of tensor 1 [4], rank 2 "
                                         "has [5]"));
  EXPECT_THAT(mismatch(std::vector{to_note(usual(), 3, 4096), to_note(usual(), {}, 4096)}),
              HasSubstr("rank 0 has given step 3, rank 1 has no step"));
  other = usual();
  other.extents = Extents(std::vector<std::int64_t>{3, 4});
  EXPECT_THAT(mismatch(std::vector{to_note(usual(), 3, 4096), to_note(other, 3, 4096)}),
              HasSubstr("rank 0 has given no extents, rank 1 has extents [3,4]"));
  EXPECT_THAT(mismatch(std::vector{to_note(usual(), 3, 4096), refusal_note("no such thing")}),
              HasSubstr("the arguments of rank 1 were refused: no such thing"));
}

TEST(Request, NotesThatWereCutAreStillAnError) {
  Request longer = usual();
  Request other = usual();
  for (int i = 0; i < 100; ++i) {
    longer.items.push_back({DType::kFloat32, {1}});
    other.items.push_back({DType::kFloat32, {i < 99 ? 1 : 2}});
  }
  const std::vector<std::string> notes = {to_note(longer, {}, 300), to_note(other, {}, 300)};
  EXPECT_LE(notes[0].size(), 300U);
  EXPECT_THAT(mismatch(notes), HasSubstr("beyond the first tensors"));
}

TEST(Request, NonsenseInANoteIsAnErrorToo) {
  EXPECT_THAT(mismatch(std::vector<std::string>{"", std::string(100, '\t')}),
              HasSubstr("operation 7"));
}

}  // namespace
}  // namespace fanin
