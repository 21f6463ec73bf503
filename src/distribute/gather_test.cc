#include <gmock/gmock.h>

#include "core/expect_error.h"
#include "distribute/test_replicas.h"
#include "fanin/all_reduce_cross_device_ops.h"

namespace fanin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PerReplica two_tables() {
  return {gpus(2),
          std::vector{Tensor::of<float>({1, 2, 3, 4}, {2, 2}), Tensor::of<float>({5, 6}, {2, 1})}};
}

TEST(Gather, PutsReplicasOneAfterTheOtherAlongTheAxis) {
  const Result result = NcclAllReduce().gather(two_tables(), "/gpu:1", 1);
  EXPECT_EQ(std::get<Tensor>(value_on(result, gpus(2)[1])).shape(), (Shape{2, 3}));
  EXPECT_THAT(floats_on(result, gpus(2)[1]), ElementsAre(1, 2, 5, 3, 4, 6));
  const PerReplica rows(gpus(2), std::vector{Tensor::of<float>({1, 2}, {1, 2}),
                                             Tensor::of<float>({3, 4, 5, 6}, {2, 2})});
  EXPECT_THAT(floats_on(NcclAllReduce().gather(rows, rows), gpus(1)[0]),
              ElementsAre(1, 2, 3, 4, 5, 6));
  const PerReplica none(gpus(2), std::vector{counted(0, 0), counted(1, 2)});
  EXPECT_THAT(floats_on(NcclAllReduce().gather(none, "/cpu:0"), Device{}), ElementsAre(2, 3));
}

TEST(Gather, RefusesWhatDoesNotFit) {
  const NcclAllReduce ops;
  expect_error(ErrorKind::kEmpty,
               "a value without components cannot be gathered; give one for each replica",
               [&] { ops.gather(PerReplica(), "/cpu:0"); });
  expect_error(ErrorKind::kBadOption, "axis 2 is not one of a tensor of shape [2,2]",
               [&] { ops.gather(two_tables(), "/cpu:0", 2); });
  expect_error(ErrorKind::kShapeMismatch,
               "replica 0 has shape [2,2], but replica 1 has [2,1]; only extent 0 may differ",
               [&] { ops.gather(two_tables(), "/cpu:0", 0); });
  const PerReplica mixed(gpus(2), std::vector{counted(0, 1), Tensor::of<int>({1}, {1})});
  expect_error(ErrorKind::kDtypeMismatch, "replica 0 has float32, but replica 1 has int32",
               [&] { ops.gather(mixed, "/cpu:0"); });
  const IndexedSlices sparse{counted(0, 1), Tensor::of<int>({0}, {1}), Shape{3}};
  expect_error(ErrorKind::kBadOption, HasSubstr("the value of replica 0 is sparse"),
               [&] { ops.gather(PerReplica({sparse}), "/cpu:0"); });
}

}  // namespace
}  // namespace fanin
