#include "distribute/private_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/expect_error.h"
#include "transports/test_ranks.h"

namespace fanin {
namespace {

using testing::HasSubstr;

TEST(FindFlaw, WantsAFolderThatOnlyItsUserSees) {
  const test::Folder folder;
  const uid_t user = ::geteuid();
  EXPECT_EQ(find_flaw(folder.path(), user), std::nullopt);
  EXPECT_EQ(find_flaw(folder.path(), user + 1),
            fmt::format("belongs to user {}, not to user {}", user, user + 1));
  for (const mode_t mode : {0710U, 0701U, 0777U}) {
    ::chmod(folder.path().c_str(), mode);
    EXPECT_EQ(find_flaw(folder.path(), user),
              fmt::format("is open to others (mode {:o} instead of 700)", mode));
  }
  ::chmod(folder.path().c_str(), 0700);
  const std::filesystem::path file = folder.path() / "file";
  EXPECT_EQ(find_flaw(file, user), "cannot be looked at: No such file or directory");
  std::ofstream(file) << "x";
  EXPECT_EQ(find_flaw(file, user), "is no folder");
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "link");
  EXPECT_EQ(find_flaw(folder.path() / "link", user), "is no folder");
}

TEST(FindPrivateFolder, TakesTheRuntimeFolderIfItIsPrivate) {
  const test::Folder folder;
  EXPECT_EQ(find_private_folder(folder.path()), folder.path());
}

TEST(FindPrivateFolder, SaysWhatTheSystemRefuses) {
  const std::string old = std::filesystem::temp_directory_path();
  const auto expect_both = [](const char* folder, const std::string& sentence) {
    ::setenv("TMPDIR", folder, 1);
    expect_error(ErrorKind::kSystem, HasSubstr(sentence), [] { find_private_folder({}); });
    expect_error(ErrorKind::kSystem, HasSubstr(sentence), [] { TemporaryFolder(); });
  };
  expect_both("/no/such/folder", "there is no folder for temporary files; set TMPDIR");
  expect_both("/proc", "for ranks to meet failed: ");
  ::setenv("TMPDIR", old.c_str(), 1);
}

TEST(TemporaryFolder, IsPrivateAndGoesAwayWithWhatIsInIt) {
  std::filesystem::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    EXPECT_EQ(find_flaw(path, ::geteuid()), std::nullopt);
    std::ofstream(path / "file") << "x";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace fanin
