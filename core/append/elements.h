// core/append/elements.h: lazy stacks along the rows, which become longer and shorter by whole elements.
#pragma once

#include "core/append/append.h"
#include "core/record/layout.h"

namespace td {

// One more element. With checksums it comes in one step with them.
void append_element(const record::Layout& folder, files::FolderLock& lock, const TensorDict& td,
                    const AppendOptions& options);

// The first elements stay, in one step. Code::busy while a writer works on any of them.
void keep_elements(const record::Layout& folder, files::FolderLock& lock, std::int64_t count,
                   const AppendOptions& options);

}  // namespace td
