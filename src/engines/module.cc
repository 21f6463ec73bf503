#include "engines/module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "fanin/error.h"

namespace fanin {
namespace {

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

std::filesystem::path find_file(const Module& module, const std::filesystem::path& asked) {
  std::string looked;
  for (const std::filesystem::path& folder : folders(asked)) {
    std::filesystem::path file = folder / module.file;
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) return file;
    looked += fmt::format("{}{}", looked.empty() ? "" : ", ", folder.lexically_normal().native());
  }
  throw Unavailable(fmt::format(
      "Fanin's module for {} is not there ({} in {}): it is built where the packages {} are "
      "installed; install them and build Fanin again, or name the folder by FANIN_MODULES",
      module.title, module.file, looked, module.packages));
}

}  // namespace

void* load_module(const Module& module, const std::filesystem::path& folder) {
  const std::filesystem::path file = find_file(module, folder);
  // Open MPI's own plugins look for its symbols among those of the whole process. A module stays
  // loaded: what it uses ends when the process does.
  void* const loaded = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (loaded == nullptr)
    throw Unavailable(fmt::format("{} cannot be loaded: {}; install the packages {}", file.native(),
                                  ::dlerror(), module.packages));
  void* const symbol = ::dlsym(loaded, module.symbol);
  if (symbol == nullptr)
    throw Unavailable(
        fmt::format("{} is of another version of Fanin; install that of this one", file.native()));
  return symbol;
}

}  // namespace fanin
