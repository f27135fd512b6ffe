// Saving to a folder: all is written beside its place, then all is renamed, meta.json last.
#include "memmap_plan.h"
#include "td/fast_path.h"
#include "td/file_io.h"
#include "td/format.h"
#include "td/mapped_file.h"

#include <ATen/ATen.h>
#include <ATen/ThreadLocalState.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

namespace td {

namespace {

// Calls `f(i)` for each i below `n`, on up to `threads` threads, this one among them. The first
// failure stops the others and is thrown here.
template <class F>
void for_each(std::size_t n, std::size_t threads, const F& f) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < n; i = next++) {
      try {
        f(i);
      } catch (...) {
        next = n;
        const std::lock_guard<std::mutex> hold(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  const std::size_t wanted = std::min(threads, n);
  try {
    const at::ThreadLocalState state;
    while (others.size() + 1 < wanted) {
      others.emplace_back([&work, state] {
        const at::ThreadLocalStateGuard guard(state);
        work();
      });
    }
  } catch (...) {
    // The system gives no more threads: those that run do the work.
  }
  work();
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

// Dense values on the CPU, without flags that only libtorch understands.
at::Tensor values_of(const at::Tensor& tensor) {
  if (fast::plain_cpu(tensor) && tensor.is_contiguous()) return tensor;
  return tensor.resolve_conj().resolve_neg().to(c10::DeviceType::CPU).contiguous();
}

class Saver {
 public:
  Saver(SavePlan plan, Content content)
      : plan_(std::move(plan)),
        content_(content),
        files_(plan_.leaves.size()),
        tensors_(plan_.leaves.size()) {}

  // Until here nothing has changed on the disk; until commit() nothing that was there has.
  NodePtr run(int threads) {
    make_folders();
    if (content_ == Content::zeros) check_room();
    for_each(plan_.leaves.size(), static_cast<std::size_t>(threads), [this](std::size_t i) {
      const c10::NoGradGuard no_grad;
      prepare(i);
    });
    for (const SavePlan::Folder& folder : plan_.folders) prepare_meta(folder);
    folders_.keep();
    commit();
    return std::move(plan_.result);
  }

 private:
  struct Mapped {
    std::optional<files::NewFile> file;
    std::shared_ptr<MappedFile> mapping;
  };

  void make_folders() {
    for (std::size_t i = 0; i < plan_.folders.size(); ++i) {
      if (i == 0) {
        folders_.make_with_parents(plan_.folders[i].path);
      } else {
        folders_.make(plan_.folders[i].path);
      }
    }
  }

  // Files of zeros take room only when they are written to, through the mapping; a full disk would then
  // end the process with a signal.
  void check_room() const {
    if (plan_.folders.empty()) return;
    std::uint64_t needed = 0;
    for (const SavePlan::Leaf& leaf : plan_.leaves) needed += leaf.bytes;
    const std::string& path = plan_.folders.front().path;
    const std::optional<std::uint64_t> room = files::free_bytes(path);
    if (room && needed > *room) {
      fail(Code::io, "cannot make room in \"", path, "\": No space left on device: ", needed,
           " bytes are needed, ", *room, " are free");
    }
  }

  void prepare(std::size_t i) {
    const SavePlan::Leaf& leaf = plan_.leaves[i];
    const SizesView sizes = leaf.source.sizes();
    const c10::ScalarType dtype = leaf.source.scalar_type();
    switch (leaf.action) {
      case SavePlan::Action::keep: tensors_[i] = leaf.source; return;
      case SavePlan::Action::empty: tensors_[i] = fast::make_dense(sizes, dtype); return;
      case SavePlan::Action::write: break;
    }
    Mapped& to = files_[i];
    to.mapping = leaf.path.empty() ? fill_memory(leaf) : fill_file(leaf, to.file);
    tensors_[i] = MappedFile::tensor(to.mapping, 0, sizes, dtype);
  }

  std::shared_ptr<MappedFile> fill_memory(const SavePlan::Leaf& leaf) const {
    std::shared_ptr<MappedFile> memory = MappedFile::anonymous(leaf.bytes);
    if (content_ == Content::values || leaf.is_table) {
      std::memcpy(memory->data(), values_of(leaf.source).data_ptr(), leaf.bytes);
    }
    return memory;
  }

  // Plain writes, not stores into a mapping: those would fault page by page.
  std::shared_ptr<MappedFile> fill_file(const SavePlan::Leaf& leaf,
                                        std::optional<files::NewFile>& file) const {
    file.emplace(leaf.path);
    if (content_ == Content::values || leaf.is_table) {
      const at::Tensor values = values_of(leaf.source);
      file->write(static_cast<const char*>(values.data_ptr()), leaf.bytes);
    } else {
      file->resize(leaf.bytes);
    }
    file->close();
    return MappedFile::open(file->path(), leaf.bytes, MapMode::shared);
  }

  void prepare_meta(const SavePlan::Folder& folder) {
    metas_.emplace_back(files::join(folder.path, format::meta_file));
    metas_.back().write(folder.meta.data(), folder.meta.size());
    metas_.back().close();
  }

  void commit() {
    for (std::size_t i = 0; i < plan_.leaves.size(); ++i) {
      const SavePlan::Leaf& leaf = plan_.leaves[i];
      if (files_[i].file) {
        files_[i].file->commit();
        files_[i].mapping->set_path(leaf.path);
      } else if (leaf.action == SavePlan::Action::empty && !leaf.path.empty()) {
        ::unlink(leaf.path.c_str());  // values of an earlier save; Python would try to map them
      }
      leaf.put(std::move(tensors_[i]));
    }
    // What is nested first: whoever finds a dictionary finds all of it.
    for (auto meta = metas_.rbegin(); meta != metas_.rend(); ++meta) meta->commit();
    for (const std::string& folder : plan_.stale) {
      std::error_code ignored;  // what stays is found again by the next save
      std::filesystem::remove_all(folder, ignored);
    }
  }

  SavePlan plan_;
  Content content_;
  files::NewFolders folders_;  // before the files, so that they go away after them
  std::vector<Mapped> files_;
  std::vector<at::Tensor> tensors_;
  std::vector<files::NewFile> metas_;
};

NodePtr save(const TensorDict& td, std::string dir, const MemmapOptions& options, Content content) {
  if (!dir.empty()) dir = files::absolute(dir);
  Saver saver(plan_save(td.node(), dir, options, content), content);
  return saver.run(options.num_threads);
}

// The folder that an empty name stands for.
const std::string& folder_or_own(const TensorDict& td, const std::string& dir) {
  return dir.empty() ? td.saved_path() : dir;
}

// Puts the entries of `result` into the nodes of `node`, which has the same keys.
void adopt(const NodePtr& node, const NodePtr& result) {
  std::vector<std::pair<Node*, const Node*>> pairs{{node.get(), result.get()}};
  while (!pairs.empty()) {
    const auto [to, from] = pairs.back();
    pairs.pop_back();
    to->set_device(from->device());
    to->set_memmapped(true);
    if (!from->saved_path().empty()) to->set_saved_path(from->saved_path());
    if (const LazyNode* lazy = as_lazy(from); lazy != nullptr && !lazy->holds_data()) {
      for (std::size_t k = 0; k < lazy->elements().size(); ++k) {
        pairs.emplace_back(as_lazy(to)->elements()[k].get(), lazy->elements()[k].get());
      }
    }
    if (RaggedNode* ragged = as_ragged(to)) {
      ragged->set_tensors(as_ragged(from)->values(), as_ragged(from)->sizes());
    }
    DenseNode* target = as_dense(to);
    for (std::size_t i = 0; target != nullptr && i < target->size(); ++i) {
      const Value& value = as_dense(from)->value(i);
      if (value.is_node()) {
        pairs.emplace_back(target->value(i).node().get(), value.node().get());
      } else {
        target->set_value(i, value);
      }
    }
  }
}

}  // namespace

TensorDict memmap(const TensorDict& td, const std::string& dir, const MemmapOptions& options) {
  NodePtr result = save(td, folder_or_own(td, dir), options, Content::values);
  lock(result);
  return TensorDict(std::move(result));
}

void memmap_inplace(TensorDict& td, const std::string& dir, const MemmapOptions& options) {
  if (td.node()->shared()) {
    fail(Code::invalid_argument, "the dictionary is in shared memory: save a clone of it");
  }
  const NodePtr result = save(td, folder_or_own(td, dir), options, Content::values);
  adopt(td.node(), result);
  lock(td.node());
}

TensorDict memmap_like(const TensorDict& td, const std::string& dir, const MemmapOptions& options) {
  NodePtr result = save(td, dir, options, Content::zeros);
  lock(result);
  return TensorDict(std::move(result));
}

}  // namespace td
