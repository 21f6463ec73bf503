#include "fanin/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/expect_error.h"

namespace fanin {
namespace {

TEST(Context, RefusesThreadCountsThatCannotBe) {
  for (const int count : {-1, 1025})
    expect_error(ErrorKind::kBadOption,
                 fmt::format("thread_count must be from 0 (automatic) to 1024, got {}", count),
                 [&] { const Context context({.thread_count = count}); });
}

TEST(Context, PrintsWarningsUnlessSomebodyWantsThem) {
  Context context({.thread_count = 1});
  std::vector<std::string> heard;
  context.on_warning([&](std::string_view sentence) { heard.emplace_back(sentence); });
  testing::internal::CaptureStderr();
  context.warn("one");
  context.on_warning({});
  context.warn("two");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "fanin: warning: two\n");
  EXPECT_THAT(heard, testing::ElementsAre("one"));
}

}  // namespace
}  // namespace fanin
