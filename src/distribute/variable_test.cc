#include "fanin/variable.h"

#include <gmock/gmock.h>

#include "core/expect_error.h"
#include "distribute/test_replicas.h"
#include "fanin/all_reduce_cross_device_ops.h"

namespace fanin {
namespace {

using testing::ElementsAre;

TEST(Variable, IsReplacedAsAWhole) {
  Variable variable(Tensor::of<float>({1, 2}, {2}), gpus(2), "w");
  const Tensor before = variable.value();
  variable.assign(Tensor::of<float>({3, 4}, {2}));
  EXPECT_THAT(variable.value(gpus(2)[1]).to_vector<float>(), ElementsAre(3, 4));
  EXPECT_EQ(variable.value(gpus(2)[1]).device(), gpus(2)[1]);
  EXPECT_THAT(before.to_vector<float>(), ElementsAre(1, 2));
  const Variable same = variable;
  EXPECT_THAT(same.value().to_vector<float>(), ElementsAre(3, 4));
  EXPECT_TRUE(variable.is_mirrored());
  EXPECT_EQ(variable.name(), "w");
}

TEST(Variable, MayDifferFromDeviceToDevice) {
  Variable variable(Tensor::of<float>({1}, {1}), gpus(2));
  variable.assign_each([](const Device& device, const Tensor& value) {
    return Tensor::of<float>({value.to_vector<float>()[0] + static_cast<float>(device.index)}, {1});
  });
  EXPECT_THAT(variable.value(gpus(2)[0]).to_vector<float>(), ElementsAre(1));
  EXPECT_THAT(variable.value(gpus(2)[1]).to_vector<float>(), ElementsAre(2));
}

TEST(Variable, IsNotChangedByAReductionToIt) {
  const Variable variable(Tensor::of<float>({1}, {1}), gpus(2));
  const Result sum = NcclAllReduce().reduce(ReduceOp::kSum, counted_on(gpus(3), 1), variable);
  EXPECT_THAT(floats_on(sum, gpus(2)[1]), ElementsAre(6));
  EXPECT_THAT(variable.value().to_vector<float>(), ElementsAre(1));
}

TEST(Variable, RefusesWhatIsNotLikeIt) {
  Variable variable(Tensor::of<float>({1, 2}, {2}), "w");
  expect_error(ErrorKind::kShapeMismatch,
               "a tensor of shape [1] was assigned to the variable \"w\", which has shape [2]",
               [&] { variable.assign(Tensor::of<float>({1}, {1})); });
  expect_error(ErrorKind::kDtypeMismatch,
               "a int32 tensor was assigned to the variable \"w\", which is float32", [&] {
                 variable.assign(Tensor::of<int>({1, 2}, {2}));
               });
  expect_error(ErrorKind::kBadDevice,
               "the variable \"w\" does not live on /job:localhost/replica:0/task:0/device:GPU:1",
               [&] { variable.value(gpus(2)[1]); });
  expect_error(ErrorKind::kEmpty, "a variable needs at least one device",
               [] { Variable(Tensor::of<float>({1}, {1}), std::vector<Device>{}); });
  EXPECT_THAT(variable.value().to_vector<float>(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace fanin
