#include "core/memmap/verify.h"

#include "core/base/parallel.h"
#include "core/formats/checksums.h"
#include "core/io/folder.h"
#include "core/io/new_file.h"
#include "core/memmap/archive_verify.h"
#include "core/memmap/folder_source.h"
#include "core/memmap/verify_walk.h"

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

constexpr std::size_t verified_at_once = std::size_t{1} << 18;

// Counts bytes read by all threads; reports on the calling thread.
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

// read() instead of a mapping, where a bad block would raise a signal.
Digest hash_file(int root, const std::string& relative, std::uint64_t bytes,
                 const std::string& path, Meter& meter) {
  const files::Descriptor file =
      files::open_beneath(root, relative, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!file.is_open()) files::fail_io("cannot open", path, errno);
  std::vector<char> buffer(
      static_cast<std::size_t>(std::min<std::uint64_t>(verified_at_once, bytes)));
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

// Adds a finding for each file that cannot be read.
std::vector<Finding> hash_all(const FolderSource& source, std::vector<Part>& parts, int num_threads,
                              const BytesFn& progress) {
  std::vector<std::string> failures(parts.size());
  Meter meter(parts, progress);
  for_each(parts.size(), static_cast<std::size_t>(num_threads), [&](std::size_t i) {
    try {
      Part& part = parts[i];
      part.digest = hash_file(source.descriptor(), part.path, part.covered,
                              source.root()->path_of(part.path), meter);
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

// Adds what only a load finds, such as sizes that do not fit the parent's.
void check_load(const std::string& root, std::vector<Finding>& findings) {
  LoadOptions options;
  options.device = c10::Device(c10::DeviceType::Meta);
  options.quiet = true;
  try {
    load_memmap(root, options);
  } catch (const Error& error) {
    if (error.code() == Code::out_of_memory || error.code() == Code::busy) throw;
    const Damage damage = error.code() == Code::io ? Damage::unreadable : Damage::format;
    findings.push_back({damage, std::string(format::meta_file), 0, 0, error.what()});
  }
}

class Verification {
 public:
  Verification(const std::string& root, int num_threads, const BytesFn& progress)
      : source_(root, MapMode::priv), num_threads_(num_threads), progress_(progress) {}

  std::vector<Finding> run() {
    std::optional<VerifyWalk> made;
    for (const bool counts : {true, false}) {
      parts_.clear();
      findings_.clear();
      made.emplace(source_, parts_, findings_, counts);
      made->run();
      // Missing counted rows are not damage: a load ignores them, too.
      if (findings_.empty() || !made->counted()) break;
    }
    VerifyWalk& walk = *made;
    if (findings_.empty()) check_load(source_.root()->path(), findings_);
    const std::string name = checksums_name(source_.descriptor());
    if (walk.look(name).found != Found::nothing) check_content(walk, name);
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.path < b.path; });
    return std::move(findings_);
  }

  bool changed() const { return source_.change() != FolderSource::Change::none; }

 private:
  void check_content(VerifyWalk& walk, const std::string& name) {
    std::vector<Checksum> checksums;
    try {
      const std::optional<std::string> text = source_.root()->read(name, max_checksums_bytes);
      checksums =
          read_checksums(text.value_or(std::string()), "\"" + source_.root()->path_of(name) + "\"");
    } catch (const Error& error) {
      if (error.code() == Code::out_of_memory) throw;
      walk.report(name, error.what(), 0);
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
      if (walk.look(part.path).bytes < one->bytes) {
        walk.report(
            part.path,
            c10::str("\"", part.path, "\" is too short: ", one->bytes, " bytes had a checksum"),
            one->bytes);
        continue;
      }
      covered.push_back({part.path, part.needed, one->bytes, one->digest});
    }
    for (const auto& [name, one] : by_path) {
      if (walk.damaged().count(one->path) != 0) continue;
      if (walk.look(one->path).found == Found::nothing) {
        walk.report(one->path, c10::str("\"", one->path, "\" has a checksum and is not there"), 0);
      }
    }
    compare(std::move(covered));
  }

  void compare(std::vector<Part> covered) {
    std::vector<Part> now = covered;
    std::vector<Finding> unreadable = hash_all(source_, now, num_threads_, progress_);
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

std::vector<Checksum> checksums_of(const std::string& root, int num_threads,
                                   const BytesFn& progress) {
  const FolderSource source(root, MapMode::priv);
  std::vector<Part> parts;
  std::vector<Finding> findings;
  VerifyWalk(source, parts, findings, /*counts=*/true).run();
  if (findings.empty()) check_load(root, findings);
  if (findings.empty()) findings = hash_all(source, parts, num_threads, progress);
  if (!findings.empty()) {
    const bool unreadable = findings.front().damage == Damage::unreadable;
    fail(unreadable ? Code::io : Code::format, "no checksums: ", findings.front().message);
  }
  std::vector<Checksum> checksums;
  for (Part& part : parts) checksums.push_back({std::move(part.path), part.covered, part.digest});
  return checksums;
}

void checksum_memmap(const std::string& dir, int num_threads, const BytesFn& progress) {
  check_arguments(dir, num_threads);
  const std::string root = files::absolute(dir);
  const files::FolderLock lock(root);
  const std::string text = checksums_text(checksums_of(root, num_threads, progress));
  const std::string name = checksums_name(lock.descriptor());
  files::Replaced replaced = files::Replaced::no;
  files::replace_file(lock.descriptor(), name, files::join(root, name), text, false, replaced);
}

}  // namespace td
