// core/memmap/verify_walk.h: lists the files of a dictionary and their defects.
#pragma once

#include "core/formats/checksums.h"
#include "core/memmap/folder_source.h"
#include "core/memmap/memmap_reader.h"
#include "core/memmap/verify.h"
#include "core/tensor/device.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace td {

// A file of the dictionary.
struct Part {
  std::string path;           // relative to the folder
  std::uint64_t needed = 0;   // bytes of its values
  std::uint64_t covered = 0;  // bytes that are hashed
  Digest digest = {};
};

// Walks a folder as a load does, but continues after damage.
class VerifyWalk {
 public:
  // `counts`: includes counted rows.
  VerifyWalk(const FolderSource& source, std::vector<Part>& parts, std::vector<Finding>& findings,
             bool counts)
      : source_(source), reader_(options_), parts_(parts), findings_(findings) {
    options_.counts = counts;
  }

  bool counted() const noexcept { return reader_.counted(); }

  void run() {
    attempt(std::string(format::meta_file), [&] { enter(reader_.open(source_.root(), {})); });
    while (!pending_.empty()) {
      const Opened at = std::move(pending_.back());
      pending_.pop_back();
      visit(at);
    }
  }

  files::Look look(const std::string& path) const {
    return files::look_beneath(source_.descriptor(), path, source_.root()->path_of(path));
  }

  // Adds the finding for a failure at `path`, from the root.
  void report(const std::string& path, const std::string& message, std::uint64_t needed,
              Code code = Code::format) {
    Finding finding{Damage::format, path, 0, 0, message};
    try {
      const files::Look look = this->look(path);
      if (look.found == files::Found::nothing) {
        finding.damage = Damage::missing;
      } else if (look.found == files::Found::link || look.found == files::Found::other) {
        finding.damage = Damage::refused;
      } else if (look.found == files::Found::file && look.bytes < needed) {
        finding.damage = Damage::too_short;
        finding.expected = needed;
        finding.found = look.bytes;
      } else if (code == Code::io && look.found != files::Found::nothing) {
        finding.damage = Damage::unreadable;
      }
    } catch (const Error& error) {
      if (error.code() == Code::out_of_memory) throw;
      finding.damage = Damage::unreadable;
    }
    findings_.push_back(std::move(finding));
  }

 private:
  template <class F>
  bool attempt(const std::string& path, F&& f, const std::uint64_t& needed = 0) {
    try {
      f();
      return true;
    } catch (const Error& error) {
      if (error.code() == Code::out_of_memory) throw;
      report(path, error.what(), needed, error.code());
      return false;
    }
  }

  void enter(Opened opened) {
    if (opened.outer) {
      add_file(*opened.outer, format::meta_file);
      add_file(*opened.outer, format::pickle_file);
    }
    add_file(*opened.dir, format::meta_file);
    check_device(opened);
    pending_.push_back(std::move(opened));
  }

  // A device that this machine lacks is fine; an invalid name is damage.
  void check_device(const Opened& at) {
    if (!at.text.device) return;
    try {
      parse_device(*at.text.device);
    } catch (const Error& error) {
      if (error.code() == Code::device) return;
      report(at.dir->relative(format::meta_file), c10::str(at.where, ": ", error.what()), 0);
    }
  }

  void add_file(const MemmapFolder& dir, std::string_view name) {
    const files::Look look = dir.look(std::string(name));
    if (look.found != files::Found::file) return;
    parts_.push_back({dir.relative(name), look.bytes, look.bytes});
  }

  void visit(const Opened& at) {
    switch (at.text.type) {
      case format::NodeType::lazy: visit_elements(at); break;
      case format::NodeType::sub_tensordict:
        attempt(at.dir->relative(), [&] { enter(reader_.open_source(at)); });
        break;
      case format::NodeType::non_tensor:
      case format::NodeType::non_tensor_stack: break;
      default: visit_entries(at); break;
    }
  }

  void visit_elements(const Opened& at) {
    std::size_t n = 0;
    attempt(at.dir->relative(), [&] { n = reader_.numbered(at); });
    for (std::size_t i = 0; i < n; ++i) {
      open_folder(at, std::to_string(i));
    }
  }

  void visit_entries(const Opened& at) {
    bool listed = false;
    for (const format::Entry& entry : at.text.entries) {
      listed = listed || entry.is_node || entry.has_is_nested;
      if (entry.is_node) {
        attempt(at.dir->relative(name_of(at, entry, {})),
                [&] { enter(reader_.open_entry(at, entry.key)); });
      } else {
        visit_leaf(at, entry);
      }
    }
    if (listed) return;
    // The first releases did not list nested dictionaries.
    std::vector<std::string> names;
    attempt(at.dir->relative(), [&] { names = reader_.nodes_in(*at.dir); });
    for (const std::string& name : names) open_folder(at, name);
  }

  void open_folder(const Opened& at, const std::string& name) {
    attempt(at.dir->relative(name), [&] { enter(reader_.open_folder(at, name)); });
  }

  void visit_leaf(const Opened& at, const format::Entry& entry) {
    const std::string name = name_of(at, entry, format::leaf_suffix);
    const std::string path = at.dir->relative(name);
    const c10::Device meta(c10::DeviceType::Meta);
    const std::int64_t rows = at.text.batch.empty() ? 0 : at.text.batch.front();
    std::uint64_t needed = 0;
    const bool good = attempt(
        path,
        [&] {
          if (entry.nested_tensor) {
            reader_.nested_tensor(at, entry, rows, std::nullopt);
            needed = at.dir->look(name).bytes;
            return;
          }
          const c10::ScalarType dtype = parse_dtype(entry.dtype, at.where);
          needed = static_cast<std::uint64_t>(
              checked_bytes(entry.shape, c10::elementSize(dtype)).value_or(0));
          reader_.leaf(at, entry, rows, meta);
        },
        needed);
    if (!good) {
      damaged_.insert(path);
      return;
    }
    if (needed != 0) parts_.push_back({path, needed, needed});
    if (!entry.nested_tensor) return;
    const std::string table = name_of(at, entry, format::table_suffix);
    const std::uint64_t bytes = at.dir->look(table).bytes;
    if (bytes != 0) parts_.push_back({at.dir->relative(table), bytes, bytes});
  }

  // The file name of an entry: escaped, or the bare key in older folders.
  static std::string name_of(const Opened& at, const format::Entry& entry,
                             std::string_view suffix) {
    std::string name = format::escape(entry.key).append(suffix);
    if (!format::safe_verbatim(entry.key, entry.is_node)) return name;
    std::string verbatim = entry.key + std::string(suffix);
    try {
      if (at.dir->look(name).found == files::Found::nothing &&
          at.dir->look(verbatim).found != files::Found::nothing) {
        return verbatim;
      }
    } catch (const Error& error) {
      if (error.code() == Code::out_of_memory) throw;
    }
    return name;
  }

 public:
  const std::set<std::string>& damaged() const noexcept { return damaged_; }

 private:
  const FolderSource& source_;
  LoadOptions options_;
  MemmapReader reader_;
  std::vector<Part>& parts_;
  std::vector<Finding>& findings_;
  std::vector<Opened> pending_;
  std::set<std::string> damaged_;
};

}  // namespace td
