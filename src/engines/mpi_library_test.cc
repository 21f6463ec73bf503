#include "engines/mpi_library.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "fanin/error.h"

namespace fanin {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(const MpiChoice& choice) {
  try {
    load_mpi(choice);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MpiLibrary, IsNotLoadedUnlessAskedFor) { EXPECT_EQ(find_loaded_mpi(), std::nullopt); }

TEST(MpiLibrary, AnUnknownNameIsRefused) {
  EXPECT_THAT(refusal_of({.library = "mvapich"}),
              AllOf(HasSubstr("\"mvapich\" is no MPI library"), HasSubstr("openmpi, mpich")));
}

TEST(MpiLibrary, TheLoadedOneIsNoneWhereNoneIsLoaded) {
  EXPECT_THAT(refusal_of({}), HasSubstr("no MPI library loaded"));
}

TEST(MpiLibrary, AMissingModuleNamesThePackages) {
  EXPECT_THAT(refusal_of({.library = "openmpi", .modules = "/nowhere"}),
              AllOf(HasSubstr("fanin-openmpi.so in /nowhere"), HasSubstr("libopenmpi-dev"),
                    HasSubstr("FANIN_MODULES")));
  EXPECT_THAT(refusal_of({.library = "mpich", .modules = "/nowhere"}), HasSubstr("libmpich-dev"));
}

TEST(MpiLibrary, AModuleThatCannotBeLoadedSaysWhy) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "fanin-modules-test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "fanin-mpich.so") << "no library\n";
  EXPECT_THAT(refusal_of({.library = "mpich", .modules = folder}),
              AllOf(HasSubstr("cannot be loaded"), HasSubstr("libmpich-dev and mpich")));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fanin
