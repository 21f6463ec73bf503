#include "fanin/device.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/expect_error.h"

namespace fanin {
namespace {

std::string canonical(std::string_view text) { return to_string(parse_device(text)); }

TEST(Device, IsMadeCanonical) {
  const std::string local = "/job:localhost/replica:0/task:0/device:";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/gpu:0", local + "GPU:0"},
      {"/device:CPU:0", local + "CPU:0"},
      {"device:cpu:3", local + "CPU:3"},
      {"/device:gpu:0", local + "GPU:0"},
      {"GPU:12", local + "GPU:12"},
      {"gPu", local + "GPU:0"},
      {"cpu", local + "CPU:0"},
      {"/gpu:007", local + "GPU:7"},
      {"/cpu:2147483647", local + "CPU:2147483647"},
      {"/job:worker/task:1/device:GPU:0", "/job:worker/replica:0/task:1/device:GPU:0"},
      {"/task:3/cpu:1", "/job:localhost/replica:0/task:3/device:CPU:1"},
      {"/device:GPU:0/job:worker", "/job:worker/replica:0/task:0/device:GPU:0"},
      {"gpu:1/replica:2/task:4/job:ps-0_b", "/job:ps-0_b/replica:2/task:4/device:GPU:1"},
      {"/job:cpu", "/job:cpu/replica:0/task:0/device:CPU:0"},
      {"/job:Worker", "/job:Worker/replica:0/task:0/device:CPU:0"},
      {"/task:1", "/job:localhost/replica:0/task:1/device:CPU:0"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(canonical(text), expected) << text;
    EXPECT_EQ(canonical(canonical(text)), expected) << text;
  }
}

TEST(Device, RefusesEverythingElseAndQuotesIt) {
  for (const std::string text : {"",
                                 "/",
                                 "//",
                                 "//gpu:0",
                                 "/gpu:0/",
                                 "/gpu:0//task:1",
                                 " /gpu:0",
                                 "/gpu:0 ",
                                 "/foo:0",
                                 "/gpu:",
                                 "/gpu:x",
                                 "/gpu:1x",
                                 "/gpu:-1",
                                 "/gpu:-0",
                                 "/gpu:+1",
                                 "/gpu: 1",
                                 "/gpu:0:0",
                                 "/gpu:2147483648",
                                 "/gpu:99999999999999999999",
                                 "/device:GPU",
                                 "/device:GPU:",
                                 "/device::0",
                                 "/device",
                                 "/device:",
                                 "/device:TPU:0",
                                 "/task",
                                 "/task:",
                                 "/task:one",
                                 "/replica:",
                                 "/replica:-1",
                                 "/job",
                                 "/job:",
                                 "/job:a b",
                                 "/job:a:b",
                                 "/job:\xc3\xa9",
                                 "/JOB:worker",
                                 "/cpu:0/gpu:0",
                                 "/gpu:0/device:CPU:1",
                                 "/cpu:0/cpu:0",
                                 "/job:a/job:a",
                                 "/task:1/task:1",
                                 "/replica:0/replica:0",
                                 "/gpu:0,/gpu:1",
                                 "gpu;0"})
    expect_error(ErrorKind::kBadDevice, testing::StartsWith("\"" + text + "\" is not a device: "),
                 [&] { parse_device(text); });
}

TEST(Device, SaysWhatIsWrongAndWhatToWrite) {
  const std::string example =
      "; write for example \"/gpu:0\" or \"/job:worker/task:1/device:CPU:0\"";
  expect_error(
      ErrorKind::kBadDevice,
      "\"/gpu:x\" is not a device: an index is a whole number from 0 to 2147483647" + example,
      [] { parse_device("/gpu:x"); });
  expect_error(ErrorKind::kBadDevice,
               "\"/foo:0\" is not a device: a device is a cpu or a gpu" + example,
               [] { parse_device("/foo:0"); });
  expect_error(ErrorKind::kBadDevice,
               "\"/cpu:0/gpu:0\" is not a device: a part may stand only once" + example,
               [] { parse_device("/cpu:0/gpu:0"); });
  expect_error(
      ErrorKind::kBadDevice,
      "\"/job:\" is not a device: a job is a name of letters, digits, '_' or '-'" + example,
      [] { parse_device("/job:"); });
  expect_error(ErrorKind::kBadDevice, "\"/device\" is not a device: write device:TYPE:N" + example,
               [] { parse_device("/device"); });
}

TEST(Device, SetsMatchInAnyOrder) {
  const auto devices = [](std::initializer_list<const char*> texts) {
    std::vector<Device> result;
    for (const char* text : texts) result.push_back(parse_device(text));
    return result;
  };
  EXPECT_TRUE(same_devices(devices({"/cpu:0", "/cpu:1"}), devices({"cpu:1", "/device:CPU:0"})));
  EXPECT_TRUE(same_devices(devices({"/cpu:0", "/cpu:0"}), devices({"/cpu:0"})));
  EXPECT_TRUE(same_devices({}, {}));
  EXPECT_FALSE(same_devices(devices({"/cpu:0"}), {}));
  EXPECT_FALSE(same_devices(devices({"/gpu:0"}), devices({"/cpu:0"})));
  EXPECT_FALSE(same_devices(devices({"/task:1/gpu:0"}), devices({"/task:2/gpu:0"})));
  EXPECT_FALSE(same_devices(devices({"/job:a"}), devices({"/job:b"})));
}

}  // namespace
}  // namespace fanin
