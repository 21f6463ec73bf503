#include "distribute/secret_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/expect_error.h"
#include "transports/test_ranks.h"

namespace fanin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kSecret = "between-us";

class SecretFile : public testing::Test {
 protected:
  void write(std::string_view text, mode_t mode = 0600) const {
    std::ofstream(path()) << text;
    ::chmod(path().c_str(), mode);
  }
  std::filesystem::path path() const { return folder_.path() / "secret"; }

  /// No sentence gives the secret away.
  void expect_refusal(const std::string& sentence) const {
    expect_error(ErrorKind::kBadOption,
                 AllOf(HasSubstr("FANIN_SECRET_FILE \"" + path().native() + "\" " + sentence),
                       Not(HasSubstr(std::string(kSecret)))),
                 [this] { read_secret_file(path(), user_); });
  }

  test::Folder folder_;
  uid_t user_ = ::geteuid();
};

TEST_F(SecretFile, IsReadWithoutItsLastNewline) {
  for (const char* end : {"", "\n", "\r\n", "\n\n"}) {
    write(std::string(kSecret) + end);
    EXPECT_EQ(read_secret_file(path(), user_), kSecret);
  }
  write("two\nlines\n", 0400);
  EXPECT_EQ(read_secret_file(path(), user_), "two\nlines");
}

TEST_F(SecretFile, MustBeReadableByItsUserOnly) {
  for (const mode_t mode : {0640U, 0604U, 0620U, 0602U, 0666U}) {
    write(kSecret, mode);
    expect_refusal("is open to others (mode 6");
  }
  write(kSecret);
  user_ += 1;
  expect_refusal(fmt::format("belongs to user {}, but this process to user {}", user_ - 1, user_));
}

TEST_F(SecretFile, MustBeARegularFile) {
  expect_refusal("cannot be opened: No such file");
  std::filesystem::create_directory(path());
  expect_refusal("is no regular file");
  std::filesystem::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  expect_refusal("is no regular file");
}

TEST_F(SecretFile, MustHoldASecretOfReasonableLength) {
  for (const char* nothing : {"", "\n", "\r\n"}) {
    write(nothing);
    expect_refusal("holds no secret");
  }
  write(std::string(4096, 'x'));
  EXPECT_EQ(read_secret_file(path(), user_).size(), 4096U);
  write(std::string(4097, 'x'));
  expect_refusal("has more than 4096 bytes");
}

}  // namespace
}  // namespace fanin
