#include "fanin/communication_options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/expect_error.h"

namespace fanin {
namespace {

TEST(Implementation, IsReadInAnyCase) {
  for (int number = 0; number < 3; ++number) {
    const auto implementation = static_cast<Implementation>(number);
    EXPECT_EQ(parse_implementation(name(implementation)), implementation);
  }
  EXPECT_EQ(parse_implementation("nccl"), Implementation::kNccl);
  EXPECT_EQ(parse_implementation("Auto"), Implementation::kAuto);
}

TEST(Implementation, RefusesOthers) {
  expect_error(ErrorKind::kBadOption,
               "implementation \"RING \" is not known; use AUTO, RING or NCCL",
               [] { parse_implementation("RING "); });
  const char* message = "implementation 3 is not known; use AUTO, RING or NCCL";
  expect_error(ErrorKind::kBadOption, message, [] { name(Implementation{3}); });
  expect_error(ErrorKind::kBadOption, message,
               [] { check(CommunicationOptions{.implementation = Implementation{3}}); });
}

TEST(CommunicationOptions, AreCheckedForRange) {
  EXPECT_NO_THROW(check(CommunicationOptions{}));
  EXPECT_NO_THROW(check(CommunicationOptions{1, 1e-9, Implementation::kRing}));
  EXPECT_NO_THROW(check(CommunicationOptions{std::numeric_limits<std::int64_t>::max()}));
  expect_error(ErrorKind::kBadOption, "bytes_per_pack must be 0 (automatic) or more, got -7",
               [] { check(CommunicationOptions{.bytes_per_pack = -7}); });
  expect_error(ErrorKind::kBadOption,
               "timeout_seconds must be a finite number above 0, got -1; leave it out to wait for "
               "the default deadline",
               [] { check(CommunicationOptions{.timeout_seconds = -1}); });
  for (const double seconds : {0.0, -0.0, static_cast<double>(NAN), HUGE_VAL, -HUGE_VAL})
    EXPECT_THROW(check(CommunicationOptions{.timeout_seconds = seconds}), InvalidArgument)
        << seconds;
}

TEST(CommunicationOptions, MergeTakesWhatTheOtherOneSets) {
  const CommunicationOptions base{10, 5.0, Implementation::kRing};
  EXPECT_EQ(merge(base, std::nullopt), base);
  EXPECT_EQ(merge(base, CommunicationOptions{}), base);
  EXPECT_EQ(merge(base, CommunicationOptions{.bytes_per_pack = 20}),
            (CommunicationOptions{20, 5.0, Implementation::kRing}));
  EXPECT_EQ(merge(base, CommunicationOptions{.timeout_seconds = 0.5}),
            (CommunicationOptions{10, 0.5, Implementation::kRing}));
  EXPECT_EQ(merge(base, CommunicationOptions{.implementation = Implementation::kNccl}),
            (CommunicationOptions{10, 5.0, Implementation::kNccl}));
  EXPECT_EQ(merge(base, CollectiveHints{.bytes_per_pack = 3}),
            (CommunicationOptions{3, 5.0, Implementation::kRing}));
}

TEST(CommunicationOptions, MergeChecksBoth) {
  const CommunicationOptions good;
  const CommunicationOptions bad{.bytes_per_pack = -1};
  EXPECT_THROW(merge(bad, std::nullopt), InvalidArgument);
  EXPECT_THROW(merge(bad, good), InvalidArgument);
  EXPECT_THROW(merge(good, bad), InvalidArgument);
}

}  // namespace
}  // namespace fanin
