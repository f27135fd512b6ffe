// core/hdf5/attributes.h: attributes of groups and datasets.
#pragma once

#include "core/hdf5/tree.h"

#include <functional>
#include <optional>
#include <string>

namespace td::hdf5 {

// Calls `take` for each attribute of a group or dataset. Throws Code::format if there are more than `options` allow.
void each_attribute(hid_t object, const std::string& where, const Options& options,
                    const std::function<void(const std::string& name, hid_t attribute)>& take);

// Texts, numbers, and lists of them; nullopt for other values. `called` is for messages.
std::optional<Plain> attribute_value(hid_t attribute, const std::string& where,
                                     const std::string& called, Budget& budget);

// What all groups and datasets of a tree have: {"/data": {"total": 3}}. Without the marks of this library and of Python, and
// without what attribute_value() does not read.
Plain attributes_of(hid_t file, const Tree& tree, const std::string& where, const Options& options,
                    Budget& budget);

// Writes such a value back, in place of attributes of these names; what is no object becomes an attribute of the root. Groups and datasets that the file has not
// are passed over. `at` opens a place, or returns a closed one.
void write_attributes(const Plain& metadata, const std::string& where,
                      const std::function<Id(const std::string& place)>& at);

}  // namespace td::hdf5
