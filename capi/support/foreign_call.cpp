#include "foreign_call.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace capi {

namespace {

// A handle for a callback, freed after it. If the client keeps the handle, it is a stale one.
template <class Handle>
class Lent {
 public:
  using Object = typename Traits<Handle>::Object;
  explicit Lent(const Object& object) { Out<Handle>(&handle_).put(Object(object)); }
  Lent(Lent&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Lent() { free_handle(handle_); }
  Handle* get() const noexcept { return handle_; }

 private:
  Handle* handle_ = nullptr;
};

// A handle for each source; NULL for a missing source.
template <class Handle>
class LentList {
 public:
  template <class Select>
  LentList(c10::ArrayRef<td::Value> values, Select&& select) {
    for (const td::Value& value : values) {
      const bool there = value.is_node() || value.tensor().defined();
      if (there) lent_.emplace_back(select(value));
      handles_.push_back(there ? lent_.back().get() : nullptr);
    }
  }
  const Handle* const* data() const noexcept { return handles_.data(); }

 private:
  std::vector<Lent<Handle>> lent_;
  c10::SmallVector<const Handle*, 3> handles_;
};

// A path as C strings: a view does not end with NUL.
class PathOut {
 public:
  explicit PathOut(td::Path path) {
    for (const std::string_view name : path) copies_.emplace_back(name);
    for (const std::string& copy : copies_) names_.push_back(copy.c_str());
  }
  const char* const* data() const noexcept { return names_.data(); }
  std::size_t size() const noexcept { return names_.size(); }

 private:
  c10::SmallVector<std::string, 4> copies_;
  c10::SmallVector<const char*, 4> names_;
};

// Takes ownership of the handle that a callback set, even if the callback failed.
template <class Handle>
class Taken {
 public:
  explicit Taken(Handle* const& handle) : handle_(handle) {}
  ~Taken() { free_handle(handle_); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  std::optional<typename Traits<Handle>::Object> get() const {
    if (handle_ == nullptr) return std::nullopt;
    return *in(handle_);
  }

 private:
  Handle* const& handle_;
};

}  // namespace

at::Tensor call_apply(td_apply_fn callback, void* user, td::Path path, const at::Tensor& leaf) {
  const PathOut names(path);
  const Lent<td_tensor> source(leaf);
  td_tensor* result = nullptr;
  const Taken<td_tensor> taken(result);
  call_checked([&] { return callback(user, names.data(), names.size(), source.get(), &result); });
  return taken.get().value_or(at::Tensor());
}

td_entry_kind kind_out(td::EntryKind kind) noexcept {
  switch (kind) {
    case td::EntryKind::tensor: return TD_ENTRY_TENSOR;
    case td::EntryKind::dict: return TD_ENTRY_DICT;
    case td::EntryKind::non_tensor: return TD_ENTRY_NON_TENSOR;
    case td::EntryKind::nested_tensor: return TD_ENTRY_NESTED_TENSOR;
    case td::EntryKind::none: break;
  }
  return TD_ENTRY_NONE;
}

td::LeafFn leaf_in(td_leaf_fn callback, void* user) {
  if (callback == nullptr) return nullptr;
  return [callback, user](td::Path path, td::EntryKind kind) {
    const PathOut names(path);
    int32_t is_leaf = 0;
    call_checked(
        [&] { return callback(user, names.data(), names.size(), kind_out(kind), &is_leaf); });
    return is_leaf != 0;
  };
}

td::Value call_apply_entry(td_apply_entry_fn callback, void* user, td::Path path,
                           c10::ArrayRef<td::Value> sources) {
  const PathOut names(path);
  td_apply_entry entry{};
  entry.struct_size = sizeof entry;
  entry.path = names.data();
  entry.path_len = names.size();
  entry.sources_len = sources.size();
  td_tensor* tensor = nullptr;
  td_tensordict* dict = nullptr;
  const Taken<td_tensor> taken_tensor(tensor);
  const Taken<td_tensordict> taken_dict(dict);
  const auto call = [&] { return callback(user, &entry, &tensor, &dict); };
  if (sources[0].is_node()) {
    const LentList<td_tensordict> lent(
        sources, [](const td::Value& value) { return td::TensorDict(value.node()); });
    entry.kind = TD_ENTRY_DICT;
    entry.dicts = lent.data();
    call_checked(call);
  } else {
    const LentList<td_tensor> lent(sources, [](const td::Value& value) { return value.tensor(); });
    entry.kind = TD_ENTRY_TENSOR;
    entry.tensors = lent.data();
    call_checked(call);
  }
  std::optional<at::Tensor> one = taken_tensor.get();
  std::optional<td::TensorDict> other = taken_dict.get();
  if (one && other) {
    td::fail(td::Code::invalid_argument, "the callback returned a tensor and a dictionary for ",
             td::show_path(path));
  }
  if (other) return td::Value(other->node());
  return td::Value(std::move(one).value_or(at::Tensor()));
}

std::optional<td::TensorDict> call_map(td_map_fn callback, void* user, const td::Piece& piece,
                                       const td::TensorDict& source) {
  const td_map_piece info{sizeof(td_map_piece), piece.worker, piece.number, piece.count,
                          piece.first,          piece.length, piece.seed};
  const Lent<td_tensordict> lent(source);
  td_tensordict* result = nullptr;
  const Taken<td_tensordict> taken(result);
  call_checked([&] { return callback(user, &info, lent.get(), &result); });
  return taken.get();
}

std::optional<td::TensorDict> call_module(td_module_fn callback, void* user,
                                          const td::TensorDict& source) {
  const Lent<td_tensordict> lent(source);
  td_tensordict* result = nullptr;
  const Taken<td_tensordict> taken(result);
  call_checked([&] { return callback(user, lent.get(), &result); });
  return taken.get();
}

void call_progress(td_progress_fn callback, void* user, std::size_t done, std::size_t total) {
  call_checked([&] { return callback(user, done, total); });
}

void call_damage(td_damage_fn callback, void* user, const std::vector<td::Finding>& findings) {
  for (const td::Finding& one : findings) {
    const td_damage damage{sizeof(td_damage), static_cast<td_damage_kind>(one.damage),
                           one.path.c_str(),  one.message.c_str(),
                           one.expected,      one.found};
    call_checked([&] { return callback(user, &damage); });
  }
}

}  // namespace capi
