// core/record/new_folder.h: creates folders without rows for a writer.
#pragma once

#include "core/io/folder_lock.h"
#include "core/record/options.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace td::record {

// Relative paths and contents of files. meta.json files are named "meta.json" or end with "/meta.json".
// Folders precede their content.
struct FolderTexts {
  std::vector<std::pair<std::string, std::string>> files;
};

// The files of dictionaries with these fields. Code::key_exists if two fields share a path or one path is a
// prefix of another; Code::key_invalid; Code::dtype.
FolderTexts texts_of(const std::vector<FieldForm>& fields);

// Creates and locks the folder; nullopt if it holds a dictionary or another process is creating it.
std::optional<files::FolderLock> make_folder(const std::string& dir, const FolderTexts& texts,
                                             bool durable);

// Locks the folder, and creates it if it is missing; without `texts` it must exist (Code::io).
files::FolderLock open_or_make(const std::string& dir, const std::function<FolderTexts()>& texts,
                               bool durable);

// Calls `attempt` until it returns true; Code::busy after two seconds.
void try_again(const std::string& dir, const std::function<bool()>& attempt);

}  // namespace td::record
