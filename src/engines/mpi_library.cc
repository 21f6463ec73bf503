#include "engines/mpi_library.h"

#include <dlfcn.h>

#include <array>
#include <vector>

#include "core/require.h"

namespace fanin {
namespace {

struct KnownMpi {
  std::string_view name;
  std::string_view title;  // how it begins to speak about itself
  std::string_view module_file;
  std::string_view packages;  // to build the module, and to run it
};

constexpr std::array kKnown = {
    KnownMpi{"openmpi", "Open MPI", "fanin-openmpi.so", "libopenmpi-dev and openmpi-bin"},
    KnownMpi{"mpich", "MPICH", "fanin-mpich.so", "libmpich-dev and mpich"},
};

const KnownMpi& find_known(const std::string& name) {
  for (const KnownMpi& known : kKnown)
    if (known.name == name) return known;
  throw InvalidArgument(
      ErrorKind::kBadOption,
      fmt::format("\"{}\" is no MPI library that Fanin knows; use openmpi, mpich, or mpi for the "
                  "one that the program has loaded",
                  name));
}

/// The folder of the library, or of the program that contains it.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || !info.dli_fname)
    return {};
  std::error_code ignored;
  return std::filesystem::canonical(info.dli_fname, ignored).parent_path();
}

std::vector<std::filesystem::path> folders(const std::filesystem::path& asked) {
  if (!asked.empty()) return {asked};
  const std::filesystem::path own = own_folder();
  return {own / "fanin", own / ".." / "lib" / "fanin", own / ".." / FANIN_LIBRARY_FOLDER / "fanin",
          std::filesystem::path(FANIN_INSTALLED_LIBRARY_FOLDER) / "fanin"};
}

std::filesystem::path find_module(const KnownMpi& known, const std::filesystem::path& asked) {
  std::string looked;
  for (const std::filesystem::path& folder : folders(asked)) {
    std::filesystem::path file = folder / known.module_file;
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) return file;
    looked += fmt::format("{}{}", looked.empty() ? "" : ", ", folder.lexically_normal().native());
  }
  throw Unavailable(fmt::format(
      "Fanin's module for {} is not there ({} in {}): it is built where the packages {} are "
      "installed; install them and build Fanin again, or name the folder by FANIN_MODULES",
      known.title, known.module_file, looked, known.packages));
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
    if (std::string_view(text.data()).starts_with(known.title)) return known.name;
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
  const std::filesystem::path file = find_module(known, choice.modules);
  // Open MPI's own plugins look for its symbols among those of the whole process. A module stays
  // loaded: its MPI ends when the process does.
  void* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (module == nullptr)
    throw Unavailable(fmt::format("{} cannot be loaded: {}; install the packages {}", file.native(),
                                  ::dlerror(), known.packages));
  using GetTable = const FaninMpi* (*)();
  const auto get_table = reinterpret_cast<GetTable>(::dlsym(module, "fanin_mpi_table_1"));
  if (get_table == nullptr)
    throw Unavailable(
        fmt::format("{} is of another version of Fanin; install that of this one", file.native()));
  return *get_table();
}

}  // namespace fanin
