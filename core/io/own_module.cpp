#include "core/io/own_module.h"

#include "core/base/quote.h"

#include <dlfcn.h>
#include <unistd.h>
#include <cstdlib>
#include <memory>

namespace td {

namespace {

// The folder of this library's file, with links resolved: an installed tree may be moved.
std::string own_folder() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return {};
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath(info.dli_fname, nullptr),
                                                         &std::free);
  if (path == nullptr) return {};
  const std::string whole = path.get();
  return whole.substr(0, whole.rfind('/'));
}

// Looks in the folder "tensordict" beside the library (installed), then beside the library (build).
std::string module_path(const std::string& file) {
  const std::string folder = own_folder();
  for (const char* below : {"/tensordict/", "/"}) {
    std::string path = folder + below + file;
    if (!folder.empty() && ::access(path.c_str(), F_OK) == 0) return path;
  }
  return {};
}

}  // namespace

OwnModule::OwnModule(const std::string& where, const char* file, const char* build,
                     const char* version, std::int32_t wanted)
    : path_(module_path(file)) {
  if (path_.empty())
    fail(Code::unsupported, where, " needs ", file, ", which is not here: ", build);
  module_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module_ == nullptr) {
    const char* why = ::dlerror();
    fail(Code::unsupported, where, " needs ", file, ": ", why == nullptr ? "" : why);
  }
  std::int32_t (*number)() = nullptr;
  find(number, version);
  if (const std::int32_t found = number(); found != wanted) {
    fail(Code::unsupported, quote(path_), " is of version ", found, ", and ", wanted,
         " is needed: it belongs to another release of this library");
  }
}

void* OwnModule::symbol(const char* name) const {
  void* found = ::dlsym(module_, name);
  if (found == nullptr) fail(Code::unsupported, quote(path_), " has no ", name);
  return found;
}

}  // namespace td
