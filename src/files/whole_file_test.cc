#include "files/whole_file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "core/expect_error.h"
#include "files/test_folder.h"

namespace fanin {
namespace {

namespace fs = std::filesystem;

class WholeFileTest : public TestFolder {
 protected:
  static std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
  }

  static void write_whole(const fs::path& place, const std::string& text) {
    WholeFile file(place);
    file.write(bytes_of(text), 0);
    file.commit();
  }
};

TEST_F(WholeFileTest, AppearsAtTheEnd) {
  const auto place = write_bytes("a", "before");
  {
    WholeFile file(place);
    file.write(bytes_of("world"), 6);
    file.write(bytes_of("hello "), 0);
    EXPECT_EQ(read_bytes(place), "before");
    file.commit();
    EXPECT_EQ(read_bytes(place), "hello world");
  }
  EXPECT_EQ(read_bytes(place), "hello world");
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(WholeFileTest, LeavesNothingWithoutACommit) {
  const auto place = write_bytes("a", "before");
  WholeFile(place).write(bytes_of("after"), 0);
  EXPECT_EQ(read_bytes(place), "before");
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(WholeFileTest, SaysWhenTheSystemFails) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error(ErrorKind::kSystem, testing::HasSubstr("File too large"),
               [&] { write_whole(path("a"), std::string(2 << 20, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(file_count(), 0U);
}

TEST_F(WholeFileTest, SaysWhenItCannotBeMoved) {
  WholeFile file(path("a"));
  fs::create_directory(path("a"));
  expect_error(ErrorKind::kSystem, "cannot write " + path("a").string() + ": Is a directory",
               [&] { file.commit(); });
}

TEST_F(WholeFileTest, RefusesPlacesThatCannotHoldAFile) {
  const auto expect_refused = [](const fs::path& place, const std::string& reason) {
    const std::string message = "cannot write " + place.string() + ": " + reason;
    expect_error(ErrorKind::kBadFile, message, [&] { check_target(place); });
    expect_error(ErrorKind::kBadFile, message, [&] { WholeFile file(place); });
  };
  expect_refused(path("none/a"), "there is no folder " + path("none").string());
  expect_refused(folder_, "it is a folder");
  expect_refused(folder_.string() + "/", "it is a folder");
  expect_refused("/dev/null", "it is not a regular file");
  EXPECT_NO_THROW(check_target(path("a")));
  EXPECT_EQ(file_count(), 0U);
}

TEST_F(WholeFileTest, GoesWhereALinkLeads) {
  const auto target = write_bytes("target", "before");
  fs::create_symlink("target", path("link"));
  write_whole(path("link"), "after");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_bytes(target), "after");
}

TEST_F(WholeFileTest, HasTheModeThatTheUserAskedFor) {
  const mode_t before = ::umask(027);
  write_whole(path("a"), "x");
  ::umask(before);
  EXPECT_EQ(static_cast<unsigned>(fs::status(path("a")).permissions()), 0640U);
}

}  // namespace
}  // namespace fanin
