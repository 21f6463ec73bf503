#include "engines/mpi_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "core/require.h"
#include "engines/module.h"

namespace fanin {
namespace {

struct KnownMpi {
  std::string_view name;
  Module module;  // the library's description of itself begins with the title
};

constexpr const char* kSymbol = "fanin_mpi_table_4";
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

std::optional<std::string> describe_loaded_mpi() {
  using GetVersion = int (*)(char*, int*);
  const auto get_version =
      reinterpret_cast<GetVersion>(::dlsym(RTLD_DEFAULT, "MPI_Get_library_version"));
  if (get_version == nullptr) return std::nullopt;
  std::array<char, 16384> text{};  // above any MPI_MAX_LIBRARY_VERSION_STRING
  int length = 0;
  get_version(text.data(), &length);
  const std::string_view all = text.data();
  return std::string(all.substr(0, all.find('\n')));
}

std::string_view choose_mpi(const std::string& asked, const std::optional<std::string>& loaded) {
  const bool takes_loaded = asked == "mpi";
  const KnownMpi* const wanted = takes_loaded ? nullptr : &find_known(asked);
  require(loaded || !takes_loaded, ErrorKind::kBadOption,
          "this program has no MPI library loaded; say which: openmpi or mpich");
  if (!loaded) return wanted->name;
  const auto* const found = std::ranges::find_if(
      kKnown, [&](const KnownMpi& known) { return loaded->starts_with(known.module.title); });
  require(found != kKnown.end(), ErrorKind::kBadOption,
          "this program has loaded \"{}\", an MPI that Fanin has no module for; a process can use "
          "only one MPI, so build and start the program with Open MPI or MPICH",
          *loaded);
  require(wanted == nullptr || wanted == found, ErrorKind::kBadOption,
          "{} was asked for, but this program has loaded {}; a process can use only one MPI", asked,
          found->name);
  return found->name;
}

const FaninMpi& load_mpi(const MpiChoice& choice) {
  const std::string name(choose_mpi(choice.library, describe_loaded_mpi()));
  using GetTable = const FaninMpi* (*)();
  return *reinterpret_cast<GetTable>(load_module(find_known(name).module, choice.modules))();
}

}  // namespace fanin
