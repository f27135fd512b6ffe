// core/arrow/plain_rows.h: rows of a table as plain values: lists of any length, structs as objects.
#pragma once

#include "core/arrow/table_file.h"
#include "core/formats/plain.h"

#include <vector>

namespace td::arrow {

// An object for each row, with a member for each column. Code::unsupported for types that no value can have, Code::format for
// bad texts and damaged arrays. `where` begins the messages.
std::vector<Plain> plain_rows(const Slice& slice, const std::string& where);

}  // namespace td::arrow
