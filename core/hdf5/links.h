// core/hdf5/links.h: the links of a group.
#pragma once

#include "core/hdf5/types.h"

#include <string>
#include <vector>

namespace td::hdf5 {

struct Link {
  std::string name;
  H5L_type_t type;
};

// The links of a group, sorted by name.
std::vector<Link> links_of(hid_t file, const std::string& place, const std::string& where,
                           const Options& options);

// The object at a path. Throws Code::key_not_found if there is no object.
H5O_info_t look_at(hid_t file, const std::string& group, const std::string& where);

// Natural order: "demo_10" is "demo_" and 10, so it comes after "demo_2".
bool counts_before(const std::string& a, const std::string& b);

[[noreturn]] void fail_many(const std::string& where, const Options& options);

}  // namespace td::hdf5
