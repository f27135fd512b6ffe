// core/io/loaded_library.h: a library of the system that is loaded when it is first needed.
#pragma once

#include "core/base/error.h"

#include <dlfcn.h>

namespace td {

// Never unloaded. Code::unsupported, with the package that has it, if it is missing.
class LoadedLibrary {
 public:
  LoadedLibrary(const char* file, const char* package, const char* what)
      : file_(file),
        package_(package),
        what_(what),
        library_(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ != nullptr) return;
    const char* why = ::dlerror();
    fail(Code::unsupported, what, " need ", file, " (Debian: ", package,
         "): ", why == nullptr ? "it cannot be loaded" : why);
  }

  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(::dlsym(library_, name));
    if (function == nullptr) {
      fail(Code::unsupported, what_, " need ", file_, " (Debian: ", package_,
           "), and the one here has no ", name);
    }
  }

 private:
  const char *file_, *package_, *what_;
  void* library_;
};

// The functions of a library: a T, whose constructor finds them, made in the first call. A failure is tried again in the next.
template <class T, class... Args>
const T& loaded(const Args&... args) {
  static const T functions(args...);
  return functions;
}

}  // namespace td
