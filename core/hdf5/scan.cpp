// The tree of a file: follows links inside the file, checks types and sizes, detects cycles.
#include "core/hdf5/attributes.h"
#include "core/hdf5/links.h"
#include "core/hdf5/lzf.h"
#include "core/hdf5/tree.h"

#include "core/formats/format.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace td::hdf5 {

namespace {

class Scanner {
 public:
  Scanner(hid_t file, const std::string& where, const Options& options, std::size_t& entries,
          Budget& budget)
      : file_(file),
        where_(where),
        options_(options),
        entries_(entries),
        budget_(budget),
        way_(inside_file(H5P_LINK_ACCESS, where)),
        to_group_(inside_file(H5P_GROUP_ACCESS, where)),
        to_dataset_(inside_file(H5P_DATASET_ACCESS, where)) {}

  // Iterative, since the file determines the depth.
  Tree scan(const std::string& group) {
    const H5O_info_t info = look_at(file_, group, where_);
    if (info.type != H5O_TYPE_GROUP) {
      fail(Code::wrong_entry, where_, ": ", quote(group), " is no group");
    }
    Entry root;
    root.place = group;
    tree_.push_back(std::move(root));
    open(0, info.addr);
    while (!levels_.empty()) {
      Level& level = levels_.back();
      if (level.next == level.links.size()) {
        above_.erase(level.address);
        levels_.pop_back();
        continue;
      }
      const Link link = level.links[level.next++];
      take(level.entry, link);
    }
    require_keys();
    return std::move(tree_);
  }

 private:
  struct Level {
    std::size_t entry;
    haddr_t address;
    std::vector<Link> links;
    std::size_t next = 0;
  };

  void open(std::size_t entry, haddr_t address) {
    if (levels_.size() >= options_.max_depth) {
      fail(Code::format, where_, ": nested deeper than ", options_.max_depth, " levels");
    }
    const std::string place = tree_[entry].place;
    Level level{entry, address, links_of(file_, place, where_, options_), 0};
    above_.insert(address);
    levels_.push_back(std::move(level));
    if (options_.attributes) take_attributes(entry, place);
  }

  void add(Entry entry) {
    if (++entries_ > options_.max_entries) fail_many(where_, options_);
    tree_.push_back(std::move(entry));
  }

  // Handles an object that cannot be an entry.
  void refuse(const std::string& place, const std::string& why) const {
    if (options_.skip) return;
    fail(Code::unsupported, where_, ": ", quote(place), " is ", why,
         ": that is no entry of a dictionary; skip leaves it out");
  }

  void take(std::size_t parent, const Link& link) {
    const std::string place = below(tree_[parent].place, link.name);
    if (!is_utf8(link.name)) {
      return refuse(place, "of a name that is not UTF-8");
    }
    if (!is_wanted(parent, link.name)) return;
    if (link.type == H5L_TYPE_EXTERNAL) {
      return refuse(place, "a link into another file, which is not followed");
    }
    if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT) {
      return refuse(place, "a link of an unknown kind");
    }
    H5O_info_t info{};
    if (H5Oget_info_by_name(file_, place.c_str(), &info, way_) < 0) {
      return refuse(place, "a link that leads to nothing in this file");
    }
    Entry entry;
    entry.name = link.name;
    entry.parent = parent;
    entry.place = place;
    if (info.type == H5O_TYPE_GROUP) {
      if (above_.count(info.addr) != 0) {
        return refuse(place, "a link to a group that it lies in");
      }
      add(std::move(entry));
      return open(tree_.size() - 1, info.addr);
    }
    if (info.type != H5O_TYPE_DATASET) return refuse(place, "neither a group nor a dataset");
    take_dataset(std::move(entry));
  }

  // The reason why a dataset's values cannot be read from this file without plugins; empty: they can.
  std::string why_not(hid_t dataset) const {
    const Id made = need(H5Dget_create_plist(dataset), Code::format, where_, "bad dataset");
    if (H5Pget_layout(made) == H5D_VIRTUAL) return "a view of datasets in other files";
    if (H5Pget_external_count(made) != 0) return "a dataset with values in other files";
    const int filters = H5Pget_nfilters(made);
    for (int i = 0; i < filters; ++i) {
      unsigned flags = 0;
      std::size_t values = 0;
      const H5Z_filter_t filter = H5Pget_filter2(made, static_cast<unsigned>(i), &flags, &values,
                                                 nullptr, 0, nullptr, nullptr);
      if (filter == lzf_filter) {
        if (std::string why = why_not_lzf(dataset, made, static_cast<unsigned>(i)); !why.empty())
          return why;
        continue;
      }
      if (filter < 0 || filter > H5Z_FILTER_SCALEOFFSET || H5Zfilter_avail(filter) <= 0) {
        return "compressed by filter " + std::to_string(filter) + ", which is not part of HDF5";
      }
    }
    return {};
  }

  void take_dataset(Entry entry) {
    const Id dataset = need(H5Dopen2(file_, entry.place.c_str(), to_dataset_), Code::format, where_,
                            "cannot open a dataset");
    if (const std::string why = why_not(dataset); !why.empty()) return refuse(entry.place, why);
    const Id space = need(H5Dget_space(dataset), Code::format, where_, "bad dataset");
    const Id type = need(H5Dget_type(dataset), Code::format, where_, "bad dataset");
    if (H5Sget_simple_extent_type(space) == H5S_NULL) {
      entry.holds = Holds::bytes;
      entry.value = Plain();
      return add(std::move(entry));
    }
    const int dims = H5Sget_simple_extent_ndims(space);
    hsize_t sizes[H5S_MAX_RANK] = {};
    if (dims < 0 || H5Sget_simple_extent_dims(space, sizes, nullptr) < 0) {
      fail_library(Code::format, where_, "bad dataset");
    }
    for (int i = 0; i < dims; ++i) {
      if (sizes[i] > static_cast<hsize_t>(INT64_MAX)) {
        return refuse(entry.place, "larger than any tensor");
      }
      entry.sizes.push_back(static_cast<std::int64_t>(sizes[i]));
    }
    entry.marked = H5Aexists(dataset, stack_mark) > 0;
    add_typed(std::move(entry), type, 0);
  }

  // Adds a dataset, or the fields of its records. Limits the nesting of types.
  void add_typed(Entry entry, hid_t type, int depth) {
    TypePlan plan = plan_type(type, where_);
    if (options_.bits) plan = plan_bits(type, std::move(plan), where_);
    if (plan.holds == Holds::nothing) return refuse(entry.place, "made of " + plan.why);
    if (depth > 32) return refuse(entry.place, "made of records in records");
    const bool number =
        entry.marked && plan.holds == Holds::tensor && !c10::isComplexType(plan.dtype);
    entry.holds = number ? Holds::number : plan.holds;
    entry.dtype = plan.dtype;
    if (plan.holds != Holds::fields) {
      entry.sizes.append(plan.inner.begin(), plan.inner.end());
      if (!checked_bytes(entry.sizes, plan.item)) {
        return refuse(entry.place, "larger than any tensor");
      }
      return add(std::move(entry));
    }
    const Entry record = entry;
    const std::size_t at = tree_.size();
    add(std::move(entry));
    const int members = H5Tget_nmembers(type);
    std::unordered_set<std::string> names;
    for (int i = 0; i < members; ++i) {
      char* text = H5Tget_member_name(type, static_cast<unsigned>(i));
      if (text == nullptr) fail_library(Code::format, where_, "bad type");
      Entry field = record;
      try {
        field.name = text;
      } catch (...) {
        H5free_memory(text);
        throw;
      }
      H5free_memory(text);
      if (!is_utf8(field.name) || !names.insert(field.name).second) {
        refuse(record.place, "made of records with names that are no keys");
        continue;
      }
      if (!is_wanted(at, field.name)) continue;
      field.parent = at;
      field.fields.push_back(field.name);
      const Id own = need(H5Tget_member_type(type, static_cast<unsigned>(i)), Code::format, where_,
                          "bad type");
      add_typed(std::move(field), own, depth + 1);
    }
  }

  void take_attributes(std::size_t entry, const std::string& place) {
    const Id group =
        need(H5Gopen2(file_, place.c_str(), to_group_), Code::format, where_, "bad group");
    std::unordered_set<std::string> taken;
    for (const Link& link : levels_.back().links) taken.insert(link.name);
    each_attribute(group, where_, options_, [&](const std::string& name, hid_t attribute) {
      // A group or dataset of the same name takes precedence.
      if (taken.count(name) == 0) take_attribute(entry, name, attribute);
    });
  }

  void take_attribute(std::size_t parent, const std::string& name, hid_t attribute) {
    if (!is_wanted(parent, name)) return;
    Entry entry;
    entry.name = name;
    entry.parent = parent;
    entry.place = tree_[parent].place;
    entry.holds = Holds::text;
    const std::string called = entry.place + "@" + name;
    if (!is_utf8(name)) return refuse(called, "of a name that is not UTF-8");
    entry.value = attribute_value(attribute, where_, called, budget_);
    if (!entry.value) return refuse(called, "an attribute that is neither text nor number");
    add(std::move(entry));
  }

  // Whether a name is on the path to a requested key, or below one.
  bool is_wanted(std::size_t parent, const std::string& name) {
    if (options_.keys.empty()) return true;
    OwnedNames path{name};
    for (std::size_t at = parent; at != 0; at = tree_[at].parent) path.push_back(tree_[at].name);
    std::reverse(path.begin(), path.end());
    return std::any_of(options_.keys.begin(), options_.keys.end(), [&](const OwnedNames& key) {
      const std::size_t n = std::min(path.size(), key.size());
      return std::equal(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n), key.begin());
    });
  }

  void require_keys() const {
    for (const OwnedNames& key : options_.keys) {
      std::size_t at = 0, depth = 0;
      for (std::size_t i = 1; i < tree_.size() && depth < key.size(); ++i) {
        if (tree_[i].parent == at && tree_[i].name == key[depth]) {
          at = i;
          ++depth;
        }
      }
      if (depth == key.size()) continue;
      fail(Code::key_not_found, where_, " has no entry ",
           show_path(std::vector<std::string_view>(key.begin(), key.end())), " below ",
           quote(tree_[0].place));
    }
  }

  using OwnedNames = std::vector<std::string>;

  hid_t file_;
  const std::string& where_;
  const Options& options_;
  std::size_t& entries_;
  Budget& budget_;
  Id way_, to_group_, to_dataset_;
  Tree tree_;
  std::vector<Level> levels_;
  std::unordered_set<haddr_t> above_;  // the groups on the current path
};

}  // namespace

Tree scan(hid_t file, const std::string& group, const std::string& where, const Options& options,
          std::size_t& entries, Budget& budget) {
  return Scanner(file, where, options, entries, budget).scan(group);
}

}  // namespace td::hdf5
