// core/arrow/library.h: the functions of the module for files of Arrow and Parquet.
#pragma once

#include "core/arrow/module.h"

#include <string>

namespace td::arrow {

struct Library {
  TdArrowRead* read;
  TdArrowOpen* open;
  TdArrowClose* close;
  TdArrowAbout* about;
  TdArrowRows* rows;
  TdArrowReadPart* read_part;
  TdArrowWrite* write;
};

// The first call loads the module. Throws Code::unsupported if it is missing; `where` begins the message.
const Library& library(const std::string& where);

}  // namespace td::arrow
