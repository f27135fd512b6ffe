// core/arrow/import.h: builds a dictionary from parts of Arrow's arrays.
#pragma once

#include "core/arrow/column.h"

namespace td::arrow {

// All parts are record batches of the schema.
TensorDict import_parts(const Schema* schema, Parts parts, const ImportOptions& options);

}  // namespace td::arrow
