#include "core/record/new_folder.h"

#include "core/base/key.h"
#include "core/formats/format.h"
#include "core/io/folder.h"
#include "core/record/layout.h"

#include <chrono>
#include <thread>

namespace td::record {

namespace {

using files::FolderLock;
using files::Found;

constexpr int most_attempts = 2000;  // one per millisecond

// The dictionaries of some fields, the root first.
class Tree {
 public:
  explicit Tree(const std::vector<FieldForm>& fields) : nodes_(1) {
    for (const FieldForm& field : fields) add(field);
  }

  FolderTexts texts() const {
    FolderTexts result;
    write(0, std::string(), result);
    return result;
  }

 private:
  struct Entry {
    std::string key;
    const FieldForm* field;  // nullptr: a dictionary
    std::size_t node;
  };
  struct Node {
    std::vector<Entry> entries;
  };

  void add(const FieldForm& field) {
    const std::vector<std::string_view> path(field.path.begin(), field.path.end());
    check_path(path);
    if (!is_stored(field.dtype))
      fail(Code::dtype, show_path(path), " has a dtype that no folder can hold");
    std::size_t at = 0;
    for (std::size_t i = 0; i < field.path.size(); ++i) {
      const bool last = i + 1 == field.path.size();
      const Entry* found = find(at, field.path[i]);
      if (found != nullptr && (last || found->field != nullptr)) {
        fail(Code::key_exists, show_path(path), " and another field need the same key ",
             quote(field.path[i]));
      }
      if (found != nullptr) {
        at = found->node;
        continue;
      }
      nodes_[at].entries.push_back({field.path[i], last ? &field : nullptr, nodes_.size()});
      if (last) return;
      at = nodes_.size();
      nodes_.emplace_back();
    }
  }

  const Entry* find(std::size_t node, const std::string& key) const {
    for (const Entry& entry : nodes_[node].entries) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }

  // Recurses no deeper than a path is long.
  void write(std::size_t node, const std::string& folder, FolderTexts& result) const {
    format::DenseText text;
    for (const Entry& entry : nodes_[node].entries) {
      if (entry.field == nullptr) {
        text.node(entry.key, format::NodeType::dense);
        continue;
      }
      Shape sizes{0};
      sizes.insert(sizes.end(), entry.field->row.begin(), entry.field->row.end());
      text.leaf(entry.key, "cpu", sizes, find_dtype(entry.field->dtype)->torch);
    }
    result.files.emplace_back(below(folder, format::meta_file),
                              std::move(text).finish(Shape{0}, "None"));
    for (const Entry& entry : nodes_[node].entries) {
      if (entry.field == nullptr) {
        write(entry.node, below(folder, format::escape(entry.key)), result);
      }
    }
  }

  std::vector<Node> nodes_;
};

}  // namespace

FolderTexts texts_of(const std::vector<FieldForm>& fields) { return Tree(fields).texts(); }

std::optional<FolderLock> make_folder(const std::string& dir, const FolderTexts& texts,
                                      bool durable) {
  files::check_target(dir);
  // Fills an existing folder in place, which keeps its other files.
  FolderLock lock;
  try {
    if (files::look(files::join(dir, ".")).found != Found::nothing) {
      lock = FolderLock(dir);
      if (holds_dictionary(dir)) return std::nullopt;
    }
    files::FolderReplacement made(dir, &lock, /*exchange_wanted=*/false);
    for (const auto& [path, content] : texts.files) {
      const std::string above(files::folder_part(path));
      if (!above.empty()) made.make_folder(above);
      made.write(path, content);
    }
    made.commit(durable);
  } catch (const Error& error) {
    if (error.code() == Code::busy) return std::nullopt;
    throw;
  }
  return lock;
}

void try_again(const std::string& dir, const std::function<bool()>& attempt) {
  for (int i = 0; i < most_attempts; ++i) {
    if (attempt()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  fail(Code::busy, "another writer is at work in \"", dir, "\"");
}

FolderLock open_or_make(const std::string& dir, const std::function<FolderTexts()>& texts,
                        bool durable) {
  std::optional<FolderLock> lock;
  try_again(dir, [&] {
    if (holds_dictionary(dir)) {
      lock.emplace(dir);
    } else if (texts) {
      lock = make_folder(dir, texts(), durable);
    } else {
      fail_no_dictionary(dir);
    }
    return lock.has_value();
  });
  return std::move(*lock);
}

}  // namespace td::record
