// core/record/new_folder.h: folders without rows, made for a writer.
#pragma once

#include "core/io/folder_lock.h"
#include "core/record/options.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace td::record {

// Files with their contents, relative to the folder; those of the meta.json files are "meta.json" or end with
// "/meta.json". A folder comes before what lies in it.
struct FolderTexts {
  std::vector<std::pair<std::string, std::string>> files;
};

// Of dictionaries that hold these fields. Code::key_exists for a path that two fields have, or that leads
// through a field; Code::key_invalid; Code::dtype.
FolderTexts texts_of(const std::vector<FieldForm>& fields);

// Makes the folder and locks it. Nothing: there is a dictionary, or somebody else is making one.
std::optional<files::FolderLock> make_folder(const std::string& dir, const FolderTexts& texts,
                                             bool durable);

// The lock on a folder; where there is none it is made. Without `texts` it must be there (Code::io).
files::FolderLock open_or_make(const std::string& dir, const std::function<FolderTexts()>& texts,
                               bool durable);

// Calls `attempt` until it is true, for two seconds; then Code::busy.
void try_again(const std::string& dir, const std::function<bool()>& attempt);

}  // namespace td::record
