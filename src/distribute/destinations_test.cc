#include "fanin/destinations.h"

#include <gmock/gmock.h>

#include "core/expect_error.h"
#include "distribute/test_replicas.h"

namespace fanin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Destinations, AreTheDevicesOfWhatIsNamed) {
  const Device gpu0 = gpus(2)[0], gpu1 = gpus(2)[1];
  const PerReplica value({counted(0, 1).on(gpu1), counted(0, 1).on(gpu0), counted(0, 1).on(gpu1)});
  EXPECT_THAT(Destinations(value).devices(), ElementsAre(gpu1, gpu0)) << "each once";
  EXPECT_THAT(Destinations(Mirrored(counted(0, 1), gpus(2))).devices(), ElementsAre(gpu0, gpu1));
  EXPECT_THAT(Destinations(Variable(counted(0, 1), {gpu1, gpu0})).devices(),
              ElementsAre(gpu1, gpu0));
  EXPECT_THAT(Destinations(counted(0, 1).on(gpu1)).devices(), ElementsAre(gpu1));
  EXPECT_THAT(Destinations(gpu1).devices(), ElementsAre(gpu1));
  EXPECT_THAT(Destinations("GPU:1").devices(), ElementsAre(gpu1));
}

TEST(Destinations, MustBeSomewhere) {
  expect_error(ErrorKind::kBadDestination,
               "the destination is an empty string; name a device, such as /cpu:0",
               [] { Destinations{""}; });
  expect_error(ErrorKind::kBadDestination,
               "the destination has no components, so it says no device",
               [] { Destinations(PerReplica{}); });
  expect_error(ErrorKind::kBadDevice, HasSubstr("/tpu_pod_9"), [] { Destinations{"/tpu_pod_9"}; });
}

TEST(DistributedValues, KnowTheirDevices) {
  const Mirrored mirrored(counted(0, 1), gpus(2));
  EXPECT_EQ(mirrored.devices(), gpus(2));
  expect_error(ErrorKind::kBadDevice, HasSubstr("there are some on /job:localhost"),
               [&] { mirrored.on(Device{}); });
  expect_error(ErrorKind::kEmpty, "a mirrored value needs at least one device",
               [] { Mirrored(counted(0, 1), {}); });
  expect_error(ErrorKind::kBadOption, "1 values were given for 2 devices; give one for each",
               [] { PerReplica(gpus(2), std::vector{counted(0, 1)}); });
}

}  // namespace
}  // namespace fanin
