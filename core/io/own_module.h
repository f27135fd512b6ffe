// core/io/own_module.h: a part of this library in a file of its own, which is loaded when it is first needed.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string>

namespace td {

// Never unloaded: what it has made calls back into it. Code::unsupported, beginning with `where`, if it is missing, or
// belongs to another release.
class OwnModule {
 public:
  // `file` is its name, `build` says what to install, and how to build this library with it. `version` is the function that
  // returns the number of its interface.
  OwnModule(const std::string& where, const char* file, const char* build, const char* version,
            std::int32_t wanted);

  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  std::string path_;
  void* module_;
};

}  // namespace td
