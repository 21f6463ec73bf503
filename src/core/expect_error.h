#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fanin/error.h"

namespace fanin {

/// Calls `call`, which must throw an Error of this kind whose message matches (a text or a gmock
/// matcher).
template <typename Call, typename Message>
void expect_error(ErrorKind kind, const Message& message, const Call& call) {
  try {
    call();
    FAIL() << "nothing was thrown; expected " << name(kind);
  } catch (const Error& error) {
    EXPECT_EQ(name(error.kind()), name(kind)) << error.what();
    EXPECT_THAT(std::string(error.what()), message);
  }
}

}  // namespace fanin
