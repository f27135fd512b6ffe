// Whether what was saved again is what was there.
#ifndef GOLDEN_COMPARE_H
#define GOLDEN_COMPARE_H

#include "walk.h"

namespace golden {

// Both throw std::runtime_error with what differs.
//
// Folders: every file of the new one is in the old one with the same bytes, and nothing that a meta.json of
// the old one names is missing from the new one. Files of values may have been longer: readers take the
// head. A meta.json is compared as JSON, order and spacing apart, and apart from what older releases did
// not write.
void compare_folders(const std::string &old_dir, const std::string &new_dir);

// Consolidated files: the bytes of the tensors, and the text as JSON.
// Byte for byte.
void compare_files(const std::string &old_file, const std::string &new_file,
                   const std::string &name);

void compare_consolidated(const std::string &old_file, const std::string &new_file);

}  // namespace golden

#endif
