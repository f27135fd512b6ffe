// core/interop/arrow_library.h: the functions of the module that reads and writes files of Arrow and Parquet.
#pragma once

#include "core/interop/arrow_module.h"

#include <string>

namespace td::arrow {

struct Library {
  TdArrowRead* read;
  TdArrowWrite* write;
};

// Loads the module with the first call. Throws Code::unsupported where there is none; `where` begins the message.
const Library& library(const std::string& where);

}  // namespace td::arrow
