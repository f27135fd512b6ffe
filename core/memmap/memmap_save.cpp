// Saves to a folder: writes a new folder, then puts it in place.
#include "core/base/progress.h"
#include "core/formats/checksums.h"
#include "core/formats/format.h"
#include "core/io/file_io.h"
#include "core/io/folder.h"
#include "core/memmap/adoption.h"
#include "core/memmap/archive.h"
#include "core/memmap/memmap_old.h"
#include "core/memmap/memmap_plan.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tensor/mapped_tensor.h"
#include "core/tensor/parallel.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace td {

namespace {

// Hash pieces while they are in the cache, then write them.
constexpr std::size_t hashed_piece = std::size_t{1} << 18;

class Saver {
 public:
  Saver(const TensorDict& td, const std::string& dir, const MemmapOptions& options, Content content)
      : options_(options), content_(content), dir_(dir.empty() ? dir : files::absolute(dir)) {
    if (!options.aside) files::check_target(dir_);
    // Lock the folder before looking at it, so that its content does not change.
    if (!dir_.empty() && files::look(files::join(dir_, ".")).found == files::Found::folder) {
      lock_ = files::FolderLock(dir_);
    }
    plan_ = plan_save(td.node(), dir_, lock_.descriptor() >= 0, options, content);
  }

  // Writes the dictionary's files aside and returns it; the old folder is unchanged.
  const NodePtr& stage() {
    const std::size_t n = plan_.leaves.size();
    if (!dir_.empty()) make_folders();
    if (content_ == Content::zeros) check_room();
    checksums_.resize(options_.checksums && !dir_.empty() ? n : 0);
    tensors_.resize(n);
    if (options_.count != nullptr) options_.count->total = n;
    for_each_tensor(n, static_cast<std::size_t>(options_.num_threads), [this](std::size_t i) {
      const c10::NoGradGuard no_grad;
      tensors_[i] = stage_leaf(i);
      if (options_.count != nullptr) ++options_.count->done;
    });
    for (std::size_t i = 0; i < n; ++i) plan_.leaves[i].put(std::move(tensors_[i]));
    for (const SavePlan::File& file : plan_.files) {
      replacement_->write(relative(file.path), *file.content);
    }
    for (const SavePlan::Folder& folder : plan_.folders) {
      const std::string path = files::join(folder.path, format::meta_file);
      const files::Descriptor file = replacement_->create(relative(path), folder.old);
      files::write_all(file.get(), folder.meta.data(), folder.meta.size(), path);
    }
    if (options_.checksums && !dir_.empty()) write_checksums();
    return plan_.result;
  }

  void commit() {
    if (replacement_) replacement_->commit(options_.durable);
  }

 private:
  std::string relative(const std::string& path) const {
    return path.substr(dir_.size() + (dir_.back() == '/' ? 0 : 1));
  }

  void make_folders() {
    const bool there = lock_.descriptor() >= 0;
    const bool dictionary = plan_.folders.front().old.found == files::Found::file;
    const OldContent old = there ? old_content(dir_, lock_.descriptor(), plan_) : OldContent();
    for (bool exchange = dictionary;; exchange = false) {
      replacement_.emplace(dir_, there ? &lock_ : nullptr, exchange);
      if (!there && replacement_->way() != files::FolderReplacement::Way::fresh) {
        fail(Code::busy, "another writer has just made \"", dir_, "\"");
      }
      try {
        for (const std::string& path : old.keep) replacement_->keep(path);
        break;
      } catch (const Error& error) {
        // Something cannot be linked or copied, or is a mount point: merge instead.
        if (error.code() != Code::io || !exchange) throw;
      }
    }
    for (const std::string& path : old.drop) replacement_->drop(path);
    for (std::size_t i = 1; i < plan_.folders.size(); ++i) {
      replacement_->make_folder(relative(plan_.folders[i].path));
    }
  }

  // Sparse files take space on first write through the mapping; a full disk would then raise a fatal signal.
  void check_room() const {
    if (dir_.empty()) return;
    std::uint64_t needed = 0;
    for (const SavePlan::Leaf& leaf : plan_.leaves) needed += leaf.bytes;
    const std::optional<std::uint64_t> room = files::free_bytes(replacement_->path());
    if (room && needed > *room) {
      fail(Code::io, "cannot make room in \"", dir_, "\": No space left on device: ", needed,
           " bytes are needed, ", *room, " are free");
    }
  }

  at::Tensor stage_leaf(std::size_t i) {
    const SavePlan::Leaf& leaf = plan_.leaves[i];
    const SizesView sizes = leaf.source.sizes();
    const c10::ScalarType dtype = leaf.source.scalar_type();
    switch (leaf.action) {
      case SavePlan::Action::keep:
        if (!checksums_.empty()) {
          checksums_[i] = {relative(leaf.path), leaf.bytes,
                           digest_of(leaf.source.data_ptr(), leaf.bytes)};
        }
        return leaf.source;
      case SavePlan::Action::empty: return fast::make_dense(sizes, dtype);
      case SavePlan::Action::write: break;
    }
    return mapped_tensor(leaf.path.empty() ? fill_memory(leaf) : fill_file(i), 0, sizes, dtype);
  }

  std::shared_ptr<MappedFile> fill_memory(const SavePlan::Leaf& leaf) const {
    std::shared_ptr<MappedFile> memory = MappedFile::anonymous(leaf.bytes);
    if (content_ == Content::values || leaf.is_table) {
      std::memcpy(memory->data(), plain_values(leaf.source).data_ptr(), leaf.bytes);
    }
    return memory;
  }

  // write() instead of stores into a mapping, which would fault on each page.
  std::shared_ptr<MappedFile> fill_file(std::size_t i) {
    const SavePlan::Leaf& leaf = plan_.leaves[i];
    const files::Descriptor file = replacement_->create(relative(leaf.path), leaf.old);
    if (content_ == Content::values || leaf.is_table) {
      const at::Tensor values = plain_values(leaf.source);
      const auto* data = static_cast<const char*>(values.data_ptr());
      if (checksums_.empty()) {
        files::write_all(file.get(), data, leaf.bytes, leaf.path);
      } else {
        checksums_[i] = {relative(leaf.path), leaf.bytes, write_hashed(file, data, leaf)};
      }
    } else {
      files::resize(file.get(), leaf.bytes, leaf.path);
      if (!checksums_.empty()) {
        checksums_[i] = {relative(leaf.path), leaf.bytes, digest_of_zeros(leaf.bytes)};
      }
    }
    if (options_.durable) files::sync(file.get(), leaf.path);
    return MappedFile::of_open(file.get(), leaf.path, leaf.bytes, MapMode::shared);
  }

  static Digest write_hashed(const files::Descriptor& file, const char* data,
                             const SavePlan::Leaf& leaf) {
    Hasher hasher;
    for (std::size_t at = 0; at < leaf.bytes; at += hashed_piece) {
      const std::size_t bytes = std::min(hashed_piece, leaf.bytes - at);
      hasher.add(data + at, bytes);
      files::write_all(file.get(), data + at, bytes, leaf.path);
    }
    return hasher.digest();
  }

  static Digest digest_of_zeros(std::size_t bytes) {
    const std::vector<char> zeros(std::min(hashed_piece, bytes));
    Hasher hasher;
    for (std::size_t at = 0; at < bytes; at += hashed_piece) {
      hasher.add(zeros.data(), std::min(hashed_piece, bytes - at));
    }
    return hasher.digest();
  }

  void write_checksums() {
    std::vector<Checksum> all;
    all.reserve(plan_.folders.size() + plan_.files.size() + checksums_.size());
    for (const SavePlan::File& file : plan_.files) {
      all.push_back({relative(file.path), file.content->size(),
                     digest_of(file.content->data(), file.content->size())});
    }
    for (const SavePlan::Folder& folder : plan_.folders) {
      all.push_back({relative(files::join(folder.path, format::meta_file)), folder.meta.size(),
                     digest_of(folder.meta.data(), folder.meta.size())});
    }
    for (Checksum& one : checksums_) {
      if (!one.path.empty()) all.push_back(std::move(one));
    }
    std::string name = checksums_name(replacement_->folder());
    if (replacement_->way() == files::FolderReplacement::Way::merge && name == checksums_file) {
      name = checksums_name(lock_.descriptor());
    }
    replacement_->write(name, checksums_text(all));
  }

  const MemmapOptions& options_;
  Content content_;
  std::string dir_;         // empty: anonymous memory
  files::FolderLock lock_;  // of an existing folder
  SavePlan plan_;
  std::optional<files::FolderReplacement> replacement_;
  std::vector<at::Tensor> tensors_;
  std::vector<Checksum> checksums_;  // of the leaves; empty: not requested
};

TensorDict save(const TensorDict& td, const std::string& dir, const MemmapOptions& options,
                Content content) {
  Saver saver(td, dir, options, content);
  NodePtr result = saver.stage();
  lock(result);
  saver.commit();
  return TensorDict(std::move(result));
}

// The folder that an empty name means.
const std::string& folder_or_own(const TensorDict& td, const std::string& dir) {
  return dir.empty() ? td.saved_path() : dir;
}

}  // namespace

TensorDict memmap(const TensorDict& td, const std::string& dir, const MemmapOptions& options) {
  if (makes_archive(dir, options)) return save_archive(td, dir, options);
  return save(td, folder_or_own(td, dir), options, Content::values);
}

void memmap_inplace(TensorDict& td, const std::string& dir, const MemmapOptions& options) {
  if (td.node()->shared()) {
    fail(Code::invalid_argument, "the dictionary is in shared memory: save a clone of it");
  }
  require_own(*td.node(), "a sub-tensordict has no tensors of its own to map");
  check_folder(options);
  Saver saver(td, folder_or_own(td, dir), options, Content::values);
  const NodePtr result = saver.stage();
  Changes changes;
  plan_adoption(changes, td.node(), result);
  changes.prepare();
  saver.commit();
  changes.commit();
}

TensorDict memmap_like(const TensorDict& td, const std::string& dir, const MemmapOptions& options) {
  if (makes_archive(dir, options)) return save_archive(td, dir, options, /*zeros=*/true);
  return save(td, dir, options, Content::zeros);
}

}  // namespace td
