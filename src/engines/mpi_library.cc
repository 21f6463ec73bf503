#include "engines/mpi_library.h"

#include <dlfcn.h>

#include <array>

#include "core/require.h"
#include "engines/module.h"

namespace fanin {
namespace {

struct KnownMpi {
  std::string_view name;
  Module module;  // the library's description of itself begins with the title
};

constexpr const char* kSymbol = "fanin_mpi_table_3";
constexpr std::array kKnown = {
    KnownMpi{"openmpi",
             {"Open MPI", "fanin-openmpi.so", kSymbol, "libopenmpi-dev and openmpi-bin"}},
    KnownMpi{"mpich", {"MPICH", "fanin-mpich.so", kSymbol, "libmpich-dev and mpich"}},
};

const KnownMpi& find_known(const std::string& name) {
  for (const KnownMpi& known : kKnown)
    if (known.name == name) return known;
  throw InvalidArgument(
      ErrorKind::kBadOption,
      fmt::format("\"{}\" is no MPI library that Fanin knows; use openmpi, mpich, mpi for the one "
                  "that the program has loaded, or pmix",
                  name));
}

}  // namespace

std::optional<std::string_view> find_loaded_mpi() {
  using GetVersion = int (*)(char*, int*);
  const auto get_version =
      reinterpret_cast<GetVersion>(::dlsym(RTLD_DEFAULT, "MPI_Get_library_version"));
  if (get_version == nullptr) return std::nullopt;
  std::array<char, 16384> text{};  // above any MPI_MAX_LIBRARY_VERSION_STRING
  int length = 0;
  get_version(text.data(), &length);
  for (const KnownMpi& known : kKnown)
    if (std::string_view(text.data()).starts_with(known.module.title)) return known.name;
  return std::nullopt;
}

const FaninMpi& load_mpi(const MpiChoice& choice) {
  const std::optional<std::string_view> loaded = find_loaded_mpi();
  require(choice.library != "mpi" || loaded, ErrorKind::kBadOption,
          "this program has no MPI library loaded that Fanin knows; say which: openmpi or mpich");
  const KnownMpi& known =
      find_known(choice.library == "mpi" ? std::string(*loaded) : choice.library);
  require(!loaded || *loaded == known.name, ErrorKind::kBadOption,
          "{} was asked for, but this program has loaded {}; a process can use only one MPI",
          known.name, loaded.value_or(""));
  using GetTable = const FaninMpi* (*)();
  return *reinterpret_cast<GetTable>(load_module(known.module, choice.modules))();
}

}  // namespace fanin
