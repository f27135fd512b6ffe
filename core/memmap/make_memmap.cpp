// Creates an entry of a mapped dictionary: first its files, then the meta.json that names it.
#include "core/formats/checksums.h"
#include "core/formats/format.h"
#include "core/io/file_io.h"
#include "core/io/folder.h"
#include "core/memmap/memmap_plan.h"
#include "core/memmap/reload.h"
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tensor/mapped_tensor.h"
#include "core/tree/paths.h"

#include <ATen/ATen.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace td {

namespace {

// The last existing dictionary on a path, and the names to create.
struct Place {
  const DenseNode* node;
  Path rest;
};

Place find_place(const TensorDict& td, Path path) {
  check_path(path);
  NodePtr node = td.node();
  if (!node->memmapped())
    fail(Code::invalid_argument, "the dictionary is not mapped: no file can be made for it");
  for (std::size_t i = 0;; ++i) {
    const bool tensorclass = node->tensorclass() != nullptr;
    if (tensorclass || !holds_entries(*node)) {
      fail(Code::unsupported, show_path(path.slice(0, i)), " is a ",
           tensorclass ? "tensorclass" : "lazy stack or a value",
           ": it cannot get a new mapped entry");
    }
    const Value* value = entries_of(node).find(path[i]);
    if (value == nullptr) return {&entries_of(node), path.slice(i)};
    if (i + 1 == path.size()) {
      fail(Code::key_exists, show_path(path), " already exists: remove that entry first");
    }
    if (!value->is_node()) fail(Code::wrong_entry, show_path(path.slice(0, i + 1)), " is a tensor");
    node = value->node();
  }
}

// A dictionary with only this entry, as it would be at its place.
TensorDict single(const Place& place, const at::Tensor& source) {
  const SizesView batch = place.node->batch();
  if (!begins_with(source.sizes(), batch)) {
    fail(Code::shape, "the shape ", show_sizes(source.sizes()),
         " does not begin with the batch size ", show_sizes(batch));
  }
  auto top = c10::make_intrusive<DenseNode>(batch, std::nullopt);
  const Names& names = place.node->names();  // which nested dictionaries repeat
  DenseNode* at = top.get();
  for (const std::string_view name : place.rest.slice(0, place.rest.size() - 1)) {
    auto inner = c10::make_intrusive<DenseNode>(batch, std::nullopt);
    inner->set_names(names);
    DenseNode* next = inner.get();
    at->put(name, NodePtr(std::move(inner)));
    at = next;
  }
  at->put(place.rest.back(), source);
  return TensorDict(NodePtr(std::move(top)));
}

constexpr std::size_t max_stored = static_cast<std::size_t>(-1);  // entries

class Maker {
 public:
  Maker(Place place, const MemmapOptions& options, Content content)
      : place_(place), options_(options), content_(content), dir_(place.node->saved_path()) {
    if (!dir_.empty()) lock_ = files::FolderLock(dir_);
  }

  at::Tensor run(const at::Tensor& source) {
    const TensorDict td = single(place_, source);
    plan_ = plan_save(td.node(), dir_, !dir_.empty(), options_, content_);
    const SavePlan::Leaf& leaf = plan_.leaves.front();
    if (!dir_.empty()) stage_folders();
    const at::Tensor tensor = make(leaf);
    leaf.put(tensor);
    Changes changes;
    changes.set(*place_.node, place_.rest.front(), entries_of(plan_.result).value(0));
    changes.prepare();
    if (aside_) aside_->commit(options_.durable);
    changes.commit();
    return tensor;
  }

 private:
  std::string relative(const std::string& path) const {
    return path.substr(dir_.size() + (dir_.back() == '/' ? 0 : 1));
  }

  void stage_folders() {
    const std::string meta = files::join(dir_, format::meta_file);
    const std::string old = files::read(meta, format::max_meta_bytes);
    const std::string where = "\"" + meta + "\"";
    // The folder may have more rows, possibly counted without a meta.json (core/formats/row_count.h).
    const Shape stored = format::read_node(old, where, {max_json_depth + 1, max_stored}).batch;
    if (SizesView(stored) != place_.node->batch()) {
      fail(Code::shape, where, " says the batch size ", show_sizes(stored), "; the dictionary has ",
           show_sizes(place_.node->batch()));
    }
    const std::string text = format::with_entry(old, where, plan_.folders.front().meta);
    aside_.emplace(dir_, &lock_, /*exchange_wanted=*/false);
    const std::string checksums = checksums_name(lock_.descriptor());
    if (files::look(files::join(dir_, checksums)).found == files::Found::file) {
      aside_->drop(checksums);  // the checksums would not match the new meta.json
    }
    for (std::size_t i = 1; i < plan_.folders.size(); ++i) {
      const SavePlan::Folder& folder = plan_.folders[i];
      aside_->make_folder(relative(folder.path));
      aside_->write(relative(files::join(folder.path, format::meta_file)), folder.meta);
    }
    aside_->write(std::string(format::meta_file), text);
  }

  at::Tensor make(const SavePlan::Leaf& leaf) const {
    const SizesView sizes = leaf.source.sizes();
    const c10::ScalarType dtype = leaf.source.scalar_type();
    if (leaf.action == SavePlan::Action::keep) return leaf.source;
    if (leaf.action == SavePlan::Action::empty) return fast::make_dense(sizes, dtype);
    const at::Tensor values = content_ == Content::zeros ? leaf.source : plain_values(leaf.source);
    if (leaf.path.empty()) {
      auto memory = MappedFile::anonymous(leaf.bytes);
      if (content_ == Content::values) std::memcpy(memory->data(), values.data_ptr(), leaf.bytes);
      return mapped_tensor(std::move(memory), 0, sizes, dtype);
    }
    const files::Descriptor file = aside_->create(relative(leaf.path), leaf.old);
    if (content_ == Content::values) {
      files::write_all(file.get(), static_cast<const char*>(values.data_ptr()), leaf.bytes,
                       leaf.path);
    } else if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(leaf.bytes))) {
      files::fail_io("cannot make room for", leaf.path, error);
    }
    return mapped_tensor(MappedFile::of_open(file.get(), leaf.path, leaf.bytes, MapMode::shared), 0,
                         sizes, dtype);
  }

  Place place_;
  const MemmapOptions& options_;
  Content content_;
  std::string dir_;  // empty: anonymous memory
  files::FolderLock lock_;
  SavePlan plan_;
  std::optional<files::FolderReplacement> aside_;
};

}  // namespace

at::Tensor make_memmap(TensorDict& td, Path path, SizesView sizes,
                       std::optional<c10::ScalarType> dtype, const MemmapOptions& options) {
  // One element, expanded over all.
  const at::Tensor zero = at::zeros({}, dtype ? at::TensorOptions(*dtype) : at::TensorOptions());
  if (!checked_bytes(sizes, zero.element_size())) {
    fail(Code::shape, "a tensor cannot have the shape ", show_sizes(sizes));
  }
  return Maker(find_place(td, path), options, Content::zeros).run(zero.expand(sizes));
}

at::Tensor make_memmap_from(TensorDict& td, Path path, const at::Tensor& source,
                            const MemmapOptions& options) {
  return Maker(find_place(td, path), options, Content::values).run(source);
}

}  // namespace td
