// core/arrow/library.h: the functions of the module for files of Arrow and Parquet.
#pragma once

#include "core/arrow/module.h"
#include "core/io/loaded_library.h"

#include <string>

namespace td::arrow {

struct Library {
  explicit Library(const std::string& where);
  TdArrowRead* read;
  TdArrowOpen* open;
  TdArrowClose* close;
  TdArrowAbout* about;
  TdArrowRows* rows;
  TdArrowReadPart* read_part;
  TdArrowWrite* write;
};

// The first call loads the module. Throws Code::unsupported if it is missing; `where` begins the message.
inline const Library& library(const std::string& where) { return loaded<Library>(where); }

}  // namespace td::arrow
