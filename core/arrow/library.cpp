#include "core/arrow/library.h"

#include "core/base/error.h"

#include <dlfcn.h>
#include <unistd.h>
#include <cstdlib>
#include <memory>

namespace td::arrow {

namespace {

constexpr const char* module_name = "tensordict-arrow.so";

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
std::string module_path(const std::string& where) {
  const std::string folder = own_folder();
  if (!folder.empty()) {
    for (const char* below : {"/tensordict/", "/"}) {
      std::string path = folder + below + module_name;
      if (::access(path.c_str(), F_OK) == 0) return path;
    }
  }
  fail(Code::unsupported, where, " needs ", module_name,
       ", which is not here: install libarrow-dev and libparquet-dev, and build this library with "
       "-Darrow=enabled");
}

template <class Function>
Function* symbol(void* module, const char* name, const std::string& path) {
  void* found = ::dlsym(module, name);
  if (found == nullptr) fail(Code::unsupported, "\"", path, "\" has no ", name);
  return reinterpret_cast<Function*>(found);
}

// Never unloaded: tensors over the module's memory call back into it.
Library load(const std::string& where) {
  const std::string path = module_path(where);
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) {
    const char* why = ::dlerror();
    fail(Code::unsupported, where, " needs ", module_name, ": ", why == nullptr ? "" : why);
  }
  const auto version = symbol<TdArrowVersion>(module, "td_arrow_module_version", path);
  if (const std::int32_t found = version(); found != TD_ARROW_MODULE_VERSION) {
    fail(Code::unsupported, "\"", path, "\" is of version ", found, ", and ",
         TD_ARROW_MODULE_VERSION, " is needed: it belongs to another release of this library");
  }
  return {symbol<TdArrowRead>(module, "td_arrow_file_read", path),
          symbol<TdArrowOpen>(module, "td_arrow_file_open", path),
          symbol<TdArrowClose>(module, "td_arrow_file_close", path),
          symbol<TdArrowAbout>(module, "td_arrow_file_about", path),
          symbol<TdArrowRows>(module, "td_arrow_file_rows", path),
          symbol<TdArrowReadPart>(module, "td_arrow_file_read_part", path),
          symbol<TdArrowWrite>(module, "td_arrow_file_write", path)};
}

}  // namespace

const Library& library(const std::string& where) {
  static const Library loaded = load(where);  // retried after a failure
  return loaded;
}

}  // namespace td::arrow
