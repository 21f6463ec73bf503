#include "engines/mpi_library.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "fanin/error.h"

namespace fanin {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(const std::string& asked, const std::string& loaded) {
  try {
    choose_mpi(asked, loaded);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of(const MpiChoice& choice) {
  try {
    load_mpi(choice);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MpiLibrary, IsNotLoadedUnlessAskedFor) { EXPECT_EQ(describe_loaded_mpi(), std::nullopt); }

TEST(MpiLibrary, AnUnknownNameIsRefused) {
  EXPECT_THAT(refusal_of({.library = "mvapich"}),
              AllOf(HasSubstr("\"mvapich\" is no MPI library"), HasSubstr("openmpi, mpich")));
}

TEST(MpiLibrary, TheLoadedOneIsNoneWhereNoneIsLoaded) {
  EXPECT_THAT(refusal_of({}), HasSubstr("no MPI library loaded"));
}

TEST(MpiLibrary, TheLoadedOneIsTaken) {
  for (const char* const asked : {"mpi", "openmpi"})
    EXPECT_EQ(choose_mpi(asked, "Open MPI v4.1.4, package: Debian OpenMPI"), "openmpi");
  EXPECT_EQ(choose_mpi("mpi", "MPICH Version:\t4.0.2"), "mpich");
  EXPECT_EQ(choose_mpi("mpich", std::nullopt), "mpich");
}

TEST(MpiLibrary, ASecondOneIsRefused) {
  EXPECT_THAT(refusal_of("mpich", "Open MPI v4.1.4"),
              HasSubstr("mpich was asked for, but this program has loaded openmpi"));
}

TEST(MpiLibrary, OneWithoutAModuleIsNamed) {
  for (const char* const asked : {"mpi", "openmpi", "mpich"})
    for (const std::string_view loaded :
         {"MVAPICH2 Version      :\t2.3.7", "Intel(R) MPI Library 2021.9 for Linux* OS"})
      EXPECT_THAT(refusal_of(asked, std::string(loaded)),
                  AllOf(HasSubstr(fmt::format("has loaded \"{}\", an MPI that Fanin has no module",
                                              loaded)),
                        HasSubstr("with Open MPI or MPICH")));
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
