// The links of a group, and which of them lead to groups.
#include "core/hdf5/links.h"

#include "core/formats/json_text.h"
#include "core/hdf5/tree.h"

#include <algorithm>

namespace td::hdf5 {

namespace {

struct Links {
  std::vector<Link> found;
  std::size_t most;
  bool too_many = false, no_memory = false;
};

// Called from C code: must not throw.
herr_t take_link(hid_t, const char* name, const H5L_info_t* info, void* into) {
  Links& links = *static_cast<Links*>(into);
  if (links.found.size() >= links.most) {
    links.too_many = true;
    return -1;
  }
  try {
    links.found.push_back({name, info->type});
  } catch (...) {
    links.no_memory = true;
    return -1;
  }
  return 0;
}

}  // namespace

// Compares numbers by length first, so they may be long.
bool counts_before(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (!digit(a[i]) || !digit(b[k])) {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i, ++k;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t begin = at;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string left = number(a, i), right = number(b, k);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if (a.size() - i != b.size() - k) return a.size() - i < b.size() - k;
  return a < b;
}

void fail_many(const std::string& where, const Options& options) {
  fail(Code::format, where, ": more than ", options.max_entries, " entries");
}

H5O_info_t look_at(hid_t file, const std::string& group, const std::string& where) {
  const Id way = inside_file(H5P_LINK_ACCESS, where);
  H5O_info_t info{};
  if (H5Oget_info_by_name(file, group.c_str(), &info, way) < 0) {
    fail(Code::key_not_found, where, " has no group ", quote(group));
  }
  return info;
}

std::vector<Link> links_of(hid_t file, const std::string& place, const std::string& where,
                           const Options& options) {
  const Id access = inside_file(H5P_GROUP_ACCESS, where);
  const Id group =
      need(H5Gopen2(file, place.c_str(), access), Code::format, where, "cannot open a group");
  Links links;
  links.most = options.max_entries;
  // In file order: for other orders the library builds a table, and crashes on damaged groups when it frees
  // that.
  hsize_t from = 0;
  const herr_t status = H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, &from, take_link, &links);
  if (links.no_memory) throw std::bad_alloc();
  if (links.too_many) fail_many(where, options);
  need_done(status, Code::format, where, "cannot list a group");
  std::sort(links.found.begin(), links.found.end(),
            [](const Link& one, const Link& other) { return one.name < other.name; });
  return std::move(links.found);
}

std::vector<std::string> groups_in(hid_t file, const std::string& group, const std::string& where,
                                   const Options& options) {
  look_at(file, group, where);
  const Id way = inside_file(H5P_LINK_ACCESS, where);
  std::vector<std::string> names;
  for (const Link& link : links_of(file, group, where, options)) {
    const std::string place = below(group, link.name);
    H5O_info_t info{};
    if ((link.type == H5L_TYPE_HARD || link.type == H5L_TYPE_SOFT) &&
        H5Oget_info_by_name(file, place.c_str(), &info, way) >= 0 && info.type == H5O_TYPE_GROUP) {
      names.push_back(link.name);
    } else if (!options.skip) {
      fail(Code::unsupported, where, ": ", quote(place),
           " is no group, so it is no element of a stack; skip leaves it out");
    }
  }
  std::sort(names.begin(), names.end(), counts_before);
  return names;
}

}  // namespace td::hdf5
