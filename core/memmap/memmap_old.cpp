// Finds the old dictionary's files: those that its meta.json files name. All others stay.
#include "core/memmap/memmap_old.h"

#include "core/formats/checksums.h"
#include "core/formats/row_count.h"
#include "core/io/file_io.h"
#include "core/io/folder.h"

#include <algorithm>
#include <cerrno>
#include <unordered_map>
#include <unordered_set>

namespace td {

namespace {

using files::Found;
using files::Item;

// The names of a node's files and folders.
class FileNames {
 public:
  FileNames(const std::string& dir, const std::vector<Item>& items, bool is_root) : items_(items) {
    if (find(format::meta_file) == nullptr) return;
    names_.insert(std::string(format::meta_file));
    if (is_root) {
      names_.insert(checksums_name(Found::file));
      names_.insert(checksums_name(Found::folder));
      const Item* count = find(format::count_file);
      if (count != nullptr && count->found != Found::folder) names_.insert(count->name);
    }
    const Item* inner = find(format::tensorclass_folder);
    const std::string meta = files::join(dir, format::meta_file);
    format::NodeText node;
    try {
      node = format::read_node(files::read(meta, format::max_meta_bytes), meta,
                               {max_json_depth + 1, static_cast<std::size_t>(-1),
                                inner != nullptr && inner->found == Found::folder});
    } catch (const Error&) {
      return;  // it names no files
    }
    switch (node.type) {
      case format::NodeType::non_tensor: names_.emplace(format::pickle_file); break;
      case format::NodeType::non_tensor_stack: names_.insert("pickle.pkl"); break;
      case format::NodeType::lazy: numbers_ = true; break;
      case format::NodeType::tensorclass:
        names_.emplace(format::pickle_file);
        names_.insert(std::string(format::tensorclass_folder));
        break;
      default: add_entries(node); break;
    }
  }

  bool has(const Item& item) const {
    if (item.found == Found::folder && (metas_ || (numbers_ && format::is_number(item.name))))
      return true;
    return names_.count(item.name) != 0;
  }
  bool only_with_meta() const noexcept { return metas_; }

 private:
  void add_entries(const format::NodeText& node) {
    bool listed = false;
    for (const format::Entry& entry : node.entries) {
      listed = listed || entry.is_node || entry.has_is_nested;
      const auto add = [&](std::string_view suffix) {
        std::string escaped = format::escape(entry.key).append(suffix);
        // Older folders use keys as names.
        if (find(escaped) == nullptr && format::safe_verbatim(entry.key, entry.is_node)) {
          names_.insert(entry.key + std::string(suffix));
        }
        names_.insert(std::move(escaped));
      };
      add(entry.is_node ? std::string_view() : format::leaf_suffix);
      if (entry.nested_tensor) add(".shape.memmap");
    }
    // The first releases did not list nested dictionaries. Without any entry the folder may not be a
    // dictionary: leave it alone.
    metas_ = !listed && !node.entries.empty();
  }

  const Item* find(std::string_view name) const {
    const auto at =
        std::lower_bound(items_.begin(), items_.end(), name,
                         [](const Item& item, std::string_view b) { return item.name < b; });
    return at != items_.end() && at->name == name ? &*at : nullptr;
  }

  const std::vector<Item>& items_;
  std::unordered_set<std::string> names_;
  bool numbers_ = false;  // numbered folders are elements
  bool metas_ = false;    // folders with a meta.json are nodes
};

class Sorter {
 public:
  Sorter(std::string dir, int held, const SavePlan& plan) : root_(std::move(dir)), held_(held) {
    for (const SavePlan::Folder& folder : plan.folders) {
      folders_.emplace(folder.path, folder.use);
      files_.insert(files::join(folder.path, format::meta_file));
    }
    for (const SavePlan::File& file : plan.files) files_.insert(file.path);
    for (const SavePlan::Leaf& leaf : plan.leaves) {
      if (leaf.action == SavePlan::Action::keep) result_.keep.push_back(relative(leaf.path));
      auto& to = leaf.action == SavePlan::Action::empty ? empty_ : files_;
      to.insert(leaf.path);
    }
  }

  OldContent run() && {
    pending_.push_back(root_);
    while (!pending_.empty()) {
      const std::string at = std::move(pending_.back());
      pending_.pop_back();
      sort(at);
    }
    drop_folders();
    return std::move(result_);
  }

 private:
  std::string relative(const std::string& path) const {
    return path.substr(std::min(path.size(), root_.size() + (root_.back() == '/' ? 0 : 1)));
  }

  void sort(const std::string& dir) {
    const bool is_root = dir.size() == root_.size();
    files::Descriptor inner;
    if (!is_root) inner = files::open_beneath(held_, relative(dir), files::folder_flags);
    const int folder = is_root ? held_ : inner.get();
    if (folder < 0) files::fail_io("cannot list", dir, errno);
    const std::vector<Item> items = files::list(folder, dir);
    const FileNames names(dir, items, is_root);
    const auto in_plan = folders_.find(dir);
    const bool planned = in_plan != folders_.end();
    for (const Item& item : items) {
      if (files::is_unfinished(folder, item)) continue;
      std::string path = files::join(dir, item.name);
      if (item.found != Found::folder) {
        if (files_.count(path) != 0) continue;
        const bool own = (item.found == Found::file && names.has(item)) || empty_.count(path) != 0;
        (own ? result_.drop : result_.keep).push_back(relative(path));
        continue;
      }
      const bool has_meta = files::look(files::join(path, format::meta_file)).found == Found::file;
      if (folders_.count(path) != 0) {
        pending_.push_back(std::move(path));
      } else if (planned && in_plan->second == SavePlan::FolderUse::numbered &&
                 format::is_number(item.name)) {
        result_.drop.push_back(relative(path));  // otherwise it would become an element
      } else if (names.has(item) && (has_meta || !names.only_with_meta())) {
        stale_.push_back(relative(path));
        pending_.push_back(std::move(path));
      } else {
        // A meta.json without entries may come from a release that did not list nested dictionaries.
        if (planned && in_plan->second == SavePlan::FolderUse::empty && has_meta) {
          fail(Code::io, "cannot save a dictionary without entries to \"", dir, "\": \"", path,
               "\" would be read as a part of it");
        }
        result_.keep.push_back(relative(path));
      }
    }
  }

  // Drops folders of the old dictionary that keep no files.
  void drop_folders() {
    std::sort(result_.keep.begin(), result_.keep.end());
    for (const std::string& folder : stale_) {
      const std::string inside = folder + "/";
      const auto first = std::lower_bound(result_.keep.begin(), result_.keep.end(), inside);
      if (first != result_.keep.end() && first->compare(0, inside.size(), inside) == 0) continue;
      result_.drop.push_back(folder);
    }
  }

  std::string root_;
  int held_;                                                      // the open root
  std::unordered_map<std::string, SavePlan::FolderUse> folders_;  // of the new dictionary
  std::unordered_set<std::string> files_;                         // of the new dictionary
  std::unordered_set<std::string> empty_;  // that the new dictionary must not have
  std::vector<std::string> pending_;
  std::vector<std::string> stale_;
  OldContent result_;
};

}  // namespace

OldContent old_content(const std::string& dir, int held, const SavePlan& plan) {
  return Sorter(dir, held, plan).run();
}

}  // namespace td
