#include "td/verify.h"

#include "archive_verify.h"
#include "folder_source.h"
#include "memmap_reader.h"
#include "parallel.h"
#include "td/checksums.h"
#include "td/folder.h"

#include <ATen/ATen.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <set>
#include <thread>
#include <unordered_map>

namespace td {

namespace {

using files::Found;
using format::NodeType;

constexpr std::size_t piece = std::size_t{1} << 18;
constexpr std::size_t max_checksums_bytes = std::size_t{1} << 28;

// A file that the dictionary consists of.
struct Part {
  std::string path;           // relative to the folder
  std::uint64_t needed = 0;   // bytes that its values take
  std::uint64_t covered = 0;  // bytes that are hashed
  Digest digest = {};
};

// Goes through a folder as a load does, and on behind what is damaged.
class Walk {
 public:
  Walk(const FolderSource& source, std::vector<Part>& parts, std::vector<Finding>& findings)
      : source_(source), reader_(source, options_), parts_(parts), findings_(findings) {}

  void run() {
    attempt(files::join(source_.root(), format::meta_file),
            [&] { enter(reader_.open(source_.root(), {})); });
    while (!pending_.empty()) {
      const Opened at = std::move(pending_.back());
      pending_.pop_back();
      visit(at);
    }
  }

  std::string relative(const std::string& path) const {
    return path.substr(std::min(path.size(), source_.root().size() + 1));
  }

  // What a failure at `path` says.
  void report(const std::string& path, const std::string& message, std::uint64_t needed) {
    Finding finding{Damage::format, relative(path), 0, 0, message};
    try {
      const files::Look look = source_.look(path);
      if (look.found == Found::nothing) {
        finding.damage = Damage::missing;
      } else if (look.found == Found::link || look.found == Found::other) {
        finding.damage = Damage::refused;
      } else if (look.found == Found::file && look.bytes < needed) {
        finding.damage = Damage::too_short;
        finding.expected = needed;
        finding.found = look.bytes;
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
      report(path, error.what(), needed);
      return false;
    }
  }

  void enter(Opened opened) {
    if (!opened.outer.empty()) add_meta(opened.outer);
    add_meta(opened.dir);
    pending_.push_back(std::move(opened));
  }

  void add_meta(const std::string& dir) {
    const std::string path = files::join(dir, format::meta_file);
    const std::uint64_t bytes = source_.look(path).bytes;
    parts_.push_back({relative(path), bytes, bytes});
  }

  void visit(const Opened& at) {
    switch (at.text.type) {
      case NodeType::lazy: visit_elements(at); break;
      case NodeType::part: attempt(at.dir, [&] { enter(reader_.open_source(at)); }); break;
      case NodeType::data:
      case NodeType::data_stack: break;
      default: visit_entries(at); break;
    }
  }

  void visit_elements(const Opened& at) {
    std::size_t n = 0;
    attempt(at.dir, [&] { n = reader_.numbered(at); });
    for (std::size_t i = 0; i < n; ++i) {
      attempt(files::join(at.dir, std::to_string(i)), [&] { enter(reader_.open_element(at, i)); });
    }
  }

  void visit_entries(const Opened& at) {
    bool listed = false;
    for (const format::Entry& entry : at.text.entries) {
      listed = listed || entry.is_node || entry.has_is_nested;
      if (entry.is_node) {
        attempt(name_of(at, entry, {}), [&] { enter(reader_.open_entry(at, entry.key)); });
      } else {
        visit_leaf(at, entry);
      }
    }
    if (listed) return;
    // The first releases listed no nested dictionaries.
    for (const std::string& name : reader_.folders_in(at.dir)) {
      const std::string dir = files::join(at.dir, name);
      if (reader_.has_meta(dir)) attempt(dir, [&] { enter(reader_.open(dir, name)); });
    }
  }

  void visit_leaf(const Opened& at, const format::Entry& entry) {
    const std::string path = name_of(at, entry, format::leaf_suffix);
    const c10::Device meta(c10::DeviceType::Meta);
    const std::int64_t rows = at.text.batch.empty() ? 0 : at.text.batch.front();
    std::uint64_t needed = 0;
    const bool good = attempt(
        path,
        [&] {
          if (entry.ragged) {
            reader_.ragged(at, entry, rows, std::nullopt);
            needed = source_.look(path).bytes;
            return;
          }
          const c10::ScalarType dtype = format::parse_dtype(entry.dtype, at.where);
          needed = static_cast<std::uint64_t>(
              format::checked_bytes(entry.shape, c10::elementSize(dtype)).value_or(0));
          reader_.leaf(at, entry, rows, meta);
        },
        needed);
    if (!good) {
      damaged_.insert(relative(path));
      return;
    }
    if (needed != 0) parts_.push_back({relative(path), needed, needed});
    if (!entry.ragged) return;
    const std::string table = name_of(at, entry, ".shape.memmap");
    const std::uint64_t bytes = source_.look(table).bytes;
    if (bytes != 0) parts_.push_back({relative(table), bytes, bytes});
  }

  // Where an entry stands: escaped, or as it is in older folders.
  std::string name_of(const Opened& at, const format::Entry& entry, std::string_view suffix) const {
    std::string path = files::join(at.dir, format::escape(entry.key)).append(suffix);
    if (!format::safe_verbatim(entry.key, entry.is_node)) return path;
    std::string verbatim = files::join(at.dir, entry.key).append(suffix);
    try {
      if (source_.look(path).found == Found::nothing &&
          source_.look(verbatim).found != Found::nothing) {
        return verbatim;
      }
    } catch (const Error& error) {
      if (error.code() == Code::out_of_memory) throw;
    }
    return path;
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

// Bytes that all threads have read; told on the calling one.
class Meter {
 public:
  Meter(const std::vector<Part>& parts, const BytesFn& progress)
      : progress_(progress), thread_(std::this_thread::get_id()) {
    for (const Part& part : parts) total_ += part.covered;
    tell();
  }
  void add(std::size_t bytes) {
    done_ += bytes;
    if (std::this_thread::get_id() == thread_) tell();
  }
  void finish() {
    if (told_ < done_) tell();
  }

 private:
  void tell() {
    if (!progress_) return;
    told_ = done_;
    progress_(told_, total_);
  }
  const BytesFn& progress_;
  std::thread::id thread_;
  std::atomic<std::size_t> done_{0};
  std::size_t told_ = 0;
  std::size_t total_ = 0;
};

// With reads, not through a mapping: that would be a signal where the disk has a bad block.
Digest hash_file(const std::string& path, std::uint64_t bytes, Meter& meter) {
  const files::Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) files::fail_io("cannot open", path, errno);
  std::vector<char> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(piece, bytes)));
  Hasher hasher;
  while (bytes != 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), bytes));
    const ssize_t n = ::read(file.get(), buffer.data(), wanted);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) files::fail_io("cannot read", path, errno);
    if (n == 0) fail(Code::format, "\"", path, "\" became shorter while it was read");
    hasher.add(buffer.data(), static_cast<std::size_t>(n));
    bytes -= static_cast<std::uint64_t>(n);
    meter.add(static_cast<std::size_t>(n));
  }
  return hasher.digest();
}

// A finding for each file that cannot be read.
std::vector<Finding> hash_all(const std::string& root, std::vector<Part>& parts, int num_threads,
                              const BytesFn& progress) {
  std::vector<std::string> failures(parts.size());
  Meter meter(parts, progress);
  for_each(parts.size(), static_cast<std::size_t>(num_threads), [&](std::size_t i) {
    try {
      parts[i].digest = hash_file(files::join(root, parts[i].path), parts[i].covered, meter);
    } catch (const Error& error) {
      if (error.code() != Code::io && error.code() != Code::format) throw;
      failures[i] = error.what();
    }
  });
  meter.finish();
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (failures[i].empty()) continue;
    findings.push_back({Damage::unreadable, parts[i].path, 0, 0, std::move(failures[i])});
  }
  return findings;
}

void check_arguments(const std::string& dir, int num_threads) {
  if (dir.empty()) fail(Code::io, "no such folder: the path is empty");
  if (num_threads < 0) {
    fail(Code::invalid_argument, "a number of threads cannot be ", num_threads);
  }
}

// What a load finds beyond single files: sizes that do not fit those above.
void check_load(const std::string& root, std::vector<Finding>& findings) {
  LoadOptions options;
  options.device = c10::Device(c10::DeviceType::Meta);
  try {
    load_memmap(root, options);
  } catch (const Error& error) {
    if (error.code() == Code::out_of_memory || error.code() == Code::busy) throw;
    findings.push_back({Damage::format, std::string(format::meta_file), 0, 0, error.what()});
  }
}

class Verification {
 public:
  Verification(const std::string& root, int num_threads, const BytesFn& progress)
      : source_(root, MapMode::priv), num_threads_(num_threads), progress_(progress) {}

  std::vector<Finding> run() {
    Walk walk(source_, parts_, findings_);
    walk.run();
    if (findings_.empty()) check_load(source_.root(), findings_);
    const std::string path = files::join(source_.root(), checksums_file);
    const bool has_checksums = source_.look(path).found != Found::nothing;
    if (has_checksums) check_content(walk, path);
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.path < b.path; });
    return std::move(findings_);
  }

  bool changed() const { return source_.change() != FolderSource::Change::none; }

 private:
  void check_content(Walk& walk, const std::string& path) {
    std::vector<Checksum> checksums;
    try {
      const std::optional<std::string> text = source_.read(path, max_checksums_bytes);
      checksums = read_checksums(text.value_or(std::string()), "\"" + path + "\"");
    } catch (const Error& error) {
      if (error.code() == Code::out_of_memory) throw;
      walk.report(path, error.what(), 0);
      return;
    }
    std::unordered_map<std::string_view, const Checksum*> by_path;
    for (const Checksum& one : checksums) by_path.emplace(one.path, &one);
    std::vector<Part> covered;
    for (Part& part : parts_) {
      const auto found = by_path.find(part.path);
      const Checksum* one = found == by_path.end() ? nullptr : found->second;
      if (one == nullptr || one->bytes < part.needed) {
        const std::uint64_t bytes = one == nullptr ? 0 : one->bytes;
        findings_.push_back({Damage::not_covered, part.path, part.needed, bytes,
                             c10::str("\"", part.path, "\": ", bytes, " of ", part.needed,
                                      " bytes have a checksum")});
      }
      if (one == nullptr) continue;
      by_path.erase(found);
      const std::string file = files::join(source_.root(), part.path);
      if (source_.look(file).bytes < one->bytes) {
        walk.report(
            file,
            c10::str("\"", part.path, "\" is too short: ", one->bytes, " bytes had a checksum"),
            one->bytes);
        continue;
      }
      covered.push_back({part.path, part.needed, one->bytes, one->digest});
    }
    for (const auto& [name, one] : by_path) {
      if (walk.damaged().count(one->path) != 0) continue;
      const std::string file = files::join(source_.root(), one->path);
      if (source_.look(file).found == Found::nothing) {
        walk.report(file, c10::str("\"", one->path, "\" has a checksum and is not there"), 0);
      }
    }
    compare(std::move(covered));
  }

  void compare(std::vector<Part> covered) {
    std::vector<Part> now = covered;
    std::vector<Finding> unreadable = hash_all(source_.root(), now, num_threads_, progress_);
    std::set<std::string_view> failed;
    for (const Finding& finding : unreadable) failed.insert(finding.path);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i].digest == covered[i].digest || failed.count(now[i].path) != 0) continue;
      findings_.push_back({Damage::changed, now[i].path, 0, 0,
                           c10::str("\"", now[i].path, "\": its first ", now[i].covered,
                                    " bytes are not those that were saved")});
    }
    for (Finding& finding : unreadable) findings_.push_back(std::move(finding));
  }

  FolderSource source_;
  int num_threads_;
  const BytesFn& progress_;
  std::vector<Part> parts_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> verify_memmap(const std::string& dir, int num_threads,
                                   const BytesFn& progress) {
  check_arguments(dir, num_threads);
  const std::string root = files::absolute(dir);
  if (files::look(root).found == Found::file) return verify_archive(root, num_threads, progress);
  for (int attempt = 0; attempt < 10; ++attempt) {
    Verification verification(root, num_threads, progress);
    std::vector<Finding> findings = verification.run();
    if (findings.empty() || !verification.changed()) return findings;
  }
  fail(Code::busy, "\"", root, "\" was replaced by its writers again and again while it was read");
}

void checksum_memmap(const std::string& dir, int num_threads, const BytesFn& progress) {
  check_arguments(dir, num_threads);
  const std::string root = files::absolute(dir);
  const files::FolderLock lock(root);
  const FolderSource source(root, MapMode::priv);
  std::vector<Part> parts;
  std::vector<Finding> findings;
  Walk(source, parts, findings).run();
  if (findings.empty()) check_load(root, findings);
  if (findings.empty()) findings = hash_all(root, parts, num_threads, progress);
  if (!findings.empty()) fail(Code::format, "no checksums: ", findings.front().message);
  std::vector<Checksum> checksums;
  for (Part& part : parts) checksums.push_back({std::move(part.path), part.covered, part.digest});
  const std::string text = checksums_text(checksums);
  files::NewFile file(files::join(root, checksums_file));
  file.write(text.data(), text.size());
  file.close();
  file.commit();
}

}  // namespace td
