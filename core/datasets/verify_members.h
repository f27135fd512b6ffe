// core/datasets/verify_members.h: members of JSON that a data set must have.
#pragma once

#include "core/datasets/verify_problems.h"
#include "core/formats/plain.h"

namespace td::datasets {

// The member, or nullptr; one of another kind, and a mandatory one that is missing, are problems.
const Plain* member(Problems& problems, const std::string& file, const Plain& object,
                    const char* name, Plain::Kind kind, bool mandatory = true);
// Numbers that JSON does not have, which Python writes: a note names the first.
void note_words(Problems& problems, const std::string& file, const Plain& value,
                const std::string& place);
// The JSON in a text; null, and a problem, if it is not JSON.
Plain inner_json(Problems& problems, const std::string& file, const Plain& text, const char* name);

}  // namespace td::datasets
