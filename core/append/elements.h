// core/append/elements.h: lazy stacks along the rows, which grow and shrink by elements.
#pragma once

#include "core/append/append.h"
#include "core/record/layout.h"

namespace td {

// Adds one element, with its checksums, in one step.
void append_element(const record::Layout& folder, files::FolderLock& lock, const TensorDict& td,
                    const AppendOptions& options);

// Keeps the first elements, in one step. Code::busy while a writer works on one of them.
void keep_elements(const record::Layout& folder, files::FolderLock& lock, std::int64_t count,
                   const AppendOptions& options);

}  // namespace td
