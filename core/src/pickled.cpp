// What a pickle says, as a dictionary over the storages of its archive.
#include "td/pickled.h"

#include "td/format.h"
#include "td/packing.h"
#include "td/zip_file.h"

#include <ATen/ATen.h>

#include <charconv>
#include <cmath>
#include <unordered_map>

namespace td::pickled {

namespace {

constexpr std::string_view pickle_name = "/data.pkl";
constexpr std::size_t objects_for_each_entry = 32;
constexpr std::size_t max_expanded_bytes = std::size_t{16} << 20;

// The folder of the archive in which all lies; empty when there is none.
std::string folder_of(const zip_file::Reader& zip) {
  for (const zip_file::Entry& entry : zip.entries()) {
    const std::size_t slash = entry.name.find('/');
    if (slash != std::string::npos && slash != 0 &&
        std::string_view(entry.name).substr(slash) == pickle_name) {
      return entry.name.substr(0, slash + 1);
    }
  }
  return {};
}

// Strides and offset in elements, checked against what a storage holds.
void check_place(const TensorPlace& place, std::size_t storage_bytes, const std::string& where) {
  const std::size_t item = c10::elementSize(place.dtype);
  const auto limit = static_cast<std::int64_t>(storage_bytes / item);
  bool fits = place.offset <= limit && format::checked_bytes(place.sizes, item).has_value();
  bool empty = false;
  std::int64_t last = place.offset;
  for (std::size_t i = 0; fits && i < place.sizes.size(); ++i) {
    std::int64_t step = 0;
    empty = empty || place.sizes[i] == 0;
    fits = place.sizes[i] == 0 ||
           (!__builtin_mul_overflow(place.sizes[i] - 1, place.strides[i], &step) &&
            !__builtin_add_overflow(last, step, &last));
  }
  if (fits && (empty || last < limit)) return;
  fail(Code::format, where, ": a tensor of shape ", show_sizes(place.sizes), " and strides ",
       show_sizes(place.strides), " at ", place.offset, " does not fit into a storage of ",
       storage_bytes, " bytes");
}

class Archive {
 public:
  Archive(const FileBytes& file, const FileOptions& options)
      : file_(file),
        zip_(file.data(), file.size(), file.where(), options.max_entries),
        folder_(folder_of(zip_)) {
    if (folder_.empty()) {
      fail(Code::format, file.where(), " is an archive, but not one of torch.save");
    }
    if (const zip_file::Entry* entry = zip_.find(folder_ + "byteorder")) {
      const std::string order = zip_.text(*entry, 16);
      if (order != "little" && order != "big") {
        fail(Code::format, file.where(), ": no order of bytes is called ", format::quote(order));
      }
      swapped_ = order == "big";
    }
    const std::string text = zip_.text(*zip_.find(folder_ + "data.pkl"), packing::max_text_bytes);
    pickle_ = read(text, file.where() + ": data.pkl",
                   std::size_t{options.max_entries} * objects_for_each_entry);
  }

  const Pickle& pickle() const noexcept { return pickle_; }
  const std::string& where() const noexcept { return file_.where(); }

  const at::Tensor& tensor(std::int64_t number) {
    at::Tensor& made = tensors_[number];
    if (made.defined()) return made;
    const TensorPlace& place = pickle_.tensors[static_cast<std::size_t>(number)];
    const Object& object = pickle_.objects[place.storage];
    const c10::Storage& storage = storage_of(object, place.dtype);
    check_place(place, storage.nbytes(), file_.where());
    count_expanded(place, storage.nbytes());
    made = over_storage(storage,
                        static_cast<std::size_t>(place.offset) * c10::elementSize(place.dtype),
                        place.sizes, place.strides, place.dtype);
    return made;
  }

 private:
  // Elements that stand for several take no memory here, but would in a copy.
  void count_expanded(const TensorPlace& place, std::size_t storage_bytes) {
    const auto bytes = static_cast<std::size_t>(
        *format::checked_bytes(place.sizes, c10::elementSize(place.dtype)));
    const std::size_t limit = max_expanded_bytes + file_.size();
    if (bytes > storage_bytes) expanded_bytes_ += std::min(bytes, limit + 1);
    if (expanded_bytes_ > limit) {
      fail(Code::unsupported, file_.where(), ": tensors are expanded to more than ", limit,
           " bytes");
    }
  }

  struct Held {
    c10::Storage storage;
    c10::ScalarType dtype;  // by which bytes were turned around
  };

  // One for all tensors that name it.
  const c10::Storage& storage_of(const Object& object, c10::ScalarType dtype) {
    const std::string name = folder_ + "data/" + object.text;
    const auto found = storages_.find(name);
    if (found != storages_.end()) {
      if (swapped_ && found->second.dtype != dtype) {
        fail(Code::unsupported, file_.where(), ": ", format::quote(name),
             " is of two dtypes, and its bytes stand the other way around");
      }
      check_length(object, name, found->second.storage.nbytes());
      return found->second.storage;
    }
    const zip_file::Entry* entry = zip_.find(name);
    if (entry == nullptr) {
      fail(Code::format, file_.where(), ": the storage ", format::quote(name), " is not there");
    }
    const auto bytes = static_cast<std::size_t>(entry->bytes);
    check_length(object, name, bytes);
    // Any dtype may be laid over it later.
    const bool in_place =
        entry->method == zip_file::method_stored && !swapped_ &&
        (bytes == 0 || reinterpret_cast<std::uintptr_t>(file_.data() + entry->offset) % 16 == 0);
    c10::Storage storage;
    if (in_place) {
      storage = file_.part(static_cast<std::size_t>(entry->offset), bytes, {}).storage();
    } else {
      file_.require_copies(format::quote(name));
      const at::Tensor memory = at::empty({static_cast<std::int64_t>(bytes)}, at::kByte);
      char* data = bytes == 0 ? nullptr : static_cast<char*>(memory.data_ptr());
      zip_.read(*entry, data);
      if (swapped_) swap_bytes(data, bytes, dtype);
      storage = memory.storage();
    }
    return storages_.emplace(name, Held{std::move(storage), dtype}).first->second.storage;
  }

  void check_length(const Object& object, const std::string& name, std::size_t bytes) const {
    std::int64_t need = 0;
    if (__builtin_mul_overflow(object.number,
                               static_cast<std::int64_t>(c10::elementSize(object.dtype)), &need) ||
        static_cast<std::size_t>(need) > bytes) {
      fail(Code::format, file_.where(), ": the storage ", format::quote(name), " of ",
           object.number, " ", c10::toString(object.dtype), " has ", bytes, " bytes");
    }
  }

  const FileBytes& file_;
  zip_file::Reader zip_;
  std::string folder_;
  bool swapped_ = false;
  std::size_t expanded_bytes_ = 0;
  Pickle pickle_;
  std::unordered_map<std::string, Held> storages_;
  std::unordered_map<std::int64_t, at::Tensor> tensors_;
};

// Which objects hold a tensor, at any depth. One pass over all of them; an object that holds itself is
// refused.
class Holders {
 public:
  Holders(const Pickle& pickle, const std::string& where) : state_(pickle.objects.size(), unseen) {
    std::vector<std::pair<Ref, std::size_t>> open{{pickle.root, 0}};
    state_[pickle.root] = begun;
    while (!open.empty()) {
      const Ref ref = open.back().first;
      const Object& object = pickle.objects[ref];
      if (open.back().second == object.items.size()) {
        if (state_[ref] == begun) state_[ref] = object.kind == Kind::tensor ? yes : no;
        open.pop_back();
        if (!open.empty()) pass_up(open.back().first, ref);
        continue;
      }
      const Ref item = object.items[open.back().second++];
      if (state_[item] == begun || state_[item] == begun_with) {
        fail(Code::format, where, ": a list or dict of the pickle holds itself");
      }
      if (state_[item] == unseen) {
        state_[item] = begun;
        open.emplace_back(item, 0);
      } else {
        pass_up(ref, item);
      }
    }
    for (State& state : state_) {
      if (state == begun_with) state = yes;
    }
  }
  bool operator()(Ref ref) const noexcept { return state_[ref] == yes; }

 private:
  enum State : std::uint8_t { unseen, begun, begun_with, no, yes };

  void pass_up(Ref holder, Ref item) {
    if (state_[item] == begun_with) state_[item] = yes;
    if (state_[item] == yes) state_[holder] = begun_with;
  }

  std::vector<State> state_;
};

class Loader {
 public:
  Loader(const FileBytes& file, const FileOptions& options)
      : options_(options), archive_(file, options), holders_(pickle(), archive_.where()) {}

  TensorDict load() {
    const Object& root = object(pickle().root);
    if (root.kind == Kind::tensor) {
      leaves_.push_back({{}, {std::string(nameless)}, archive_.tensor(root.number)});
    } else if (is_dictionary(pickle().root)) {
      walk();
    } else {
      fail(Code::wrong_entry, archive_.where(), " holds no tensor and no dictionary");
    }
    return build_tree(leaves_, &extras_, options_, archive_.where());
  }

  at::Tensor load_tensor() {
    const Object& root = object(pickle().root);
    if (root.kind == Kind::tensor) return archive_.tensor(root.number);
    // torch::save of one tensor: an object whose only attribute it is.
    const Object* only = nullptr;
    for (std::size_t i = 1; root.kind == Kind::dict && root.object && i < root.items.size();
         i += 2) {
      const Object& value = object(root.items[i]);
      if (value.kind != Kind::tensor) continue;
      if (only != nullptr) {
        only = nullptr;
        break;
      }
      only = &value;
    }
    if (only == nullptr) {
      fail(Code::wrong_entry, archive_.where(), " holds a dictionary, not one tensor");
    }
    return archive_.tensor(only->number);
  }

 private:
  struct Level {
    Ref ref;
    std::size_t next;
    std::size_t names;  // how many stand on the path before it
  };

  const Pickle& pickle() const noexcept { return archive_.pickle(); }
  const Object& object(Ref ref) const noexcept { return pickle().objects[ref]; }
  bool is_dictionary(Ref ref) const noexcept {
    return object(ref).kind == Kind::dict || (object(ref).kind == Kind::list && holders_(ref));
  }

  void walk() {
    std::vector<Level> levels{{pickle().root, 0, 0}};
    extras_.dicts.push_back({});
    while (!levels.empty()) {
      Level& level = levels.back();
      const Object& holder = object(level.ref);
      const bool dict = holder.kind == Kind::dict;
      path_.resize(level.names);
      if (level.next >= holder.items.size()) {
        levels.pop_back();
        continue;
      }
      Ref value = holder.items[level.next];
      if (dict) {
        push_name(key_of(value));
        value = holder.items[level.next + 1];
        level.next += 2;
      } else {
        path_.push_back(std::to_string(level.next++));
      }
      if (holder.object && !holders_(value)) continue;  // what TorchScript keeps for itself
      if (++entries_ > options_.max_entries) {
        fail(Code::format, archive_.where(), ": more than ", options_.max_entries, " entries");
      }
      if (!is_dictionary(value)) count_path();
      if (object(value).kind == Kind::tensor) {
        leaves_.push_back({{}, path_, archive_.tensor(object(value).number)});
      } else if (is_dictionary(value)) {
        if (path_.size() > options_.max_depth) {
          fail(Code::format, archive_.where(), ": nested deeper than ", options_.max_depth,
               " levels");
        }
        if (object(value).items.empty()) count_path();
        if (object(value).items.empty()) extras_.dicts.push_back({path_, {}, {}});
        levels.push_back({value, 0, path_.size()});
      } else {
        extras_.data.push_back({path_, json_of(value), false});
      }
    }
  }

  // Names that stand in the file once may be met many times.
  void count_path() {
    for (const std::string& name : path_) path_bytes_ += name.size();
    if (path_bytes_ > packing::max_text_bytes) {
      fail(Code::format, archive_.where(), ": the names of the entries are too long");
    }
  }

  void push_name(const std::string& name) {
    if (!options_.separator) {
      path_.push_back(name);
    } else {
      for (std::string& part : split_name(name, options_)) path_.push_back(std::move(part));
    }
  }

  std::string key_of(Ref ref) const {
    const Object& key = object(ref);
    if (key.kind == Kind::text) return key.text;
    if (key.kind == Kind::integer) return std::to_string(key.number);
    fail(Code::unsupported, archive_.where(), ": a key is neither a text nor a whole number");
  }

  std::string json_of(Ref ref) {
    std::string text;
    append_json(text, ref, 0);
    json_bytes_ += text.size();
    return text;
  }

  // As deep as JSON may be, and no further.
  void append_json(std::string& text, Ref ref, std::size_t depth) {
    const Object& value = object(ref);
    if (depth > format::max_json_depth || text.size() + json_bytes_ > packing::max_text_bytes) {
      fail(Code::format, archive_.where(), ": a value is nested too deep, or too long");
    }
    switch (value.kind) {
      case Kind::none: text += "null"; return;
      case Kind::truth: text += value.number != 0 ? "true" : "false"; return;
      case Kind::integer: text += std::to_string(value.number); return;
      case Kind::real: append_real(text, value.real); return;
      case Kind::text: text += format::quote(value.text); return;
      case Kind::list:
      case Kind::dict: break;
      default:
        fail(Code::unsupported, archive_.where(),
             ": a value is neither a tensor nor a text, a number, a list or a dict");
    }
    const bool dict = value.kind == Kind::dict;
    text += dict ? '{' : '[';
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (i != 0) text += dict && i % 2 != 0 ? ':' : ',';
      if (dict && i % 2 == 0) {
        text += format::quote(key_of(value.items[i]));
      } else {
        append_json(text, value.items[i], depth + 1);
      }
    }
    text += dict ? '}' : ']';
  }

  // JSON has neither infinities nor NaN: Python's writer of the format puts null there, too.
  static void append_real(std::string& text, double value) {
    if (!std::isfinite(value)) {
      text += "null";
      return;
    }
    char digits[32];
    const std::string_view shortest(
        digits,
        static_cast<std::size_t>(std::to_chars(digits, std::end(digits), value).ptr - digits));
    text += shortest;
    if (shortest.find_first_of(".e") == std::string_view::npos) text += ".0";
  }

  const FileOptions& options_;
  Archive archive_;
  Holders holders_;
  std::vector<FlatLeaf> leaves_;
  FlatExtras extras_;
  OwnedPath path_;
  std::size_t entries_ = 0;
  std::size_t json_bytes_ = 0;
  std::size_t path_bytes_ = 0;
};

void refuse_old(const FileBytes& file) {
  if (file.text().substr(0, 1) == "\x80") {
    fail(Code::unsupported, file.where(),
         " is of torch.save before 1.6, or a bare pickle: save it again with a newer one");
  }
}

}  // namespace

bool looks_like(const FileBytes& file) noexcept {
  try {
    return !folder_of(zip_file::Reader(file.data(), file.size(), file.where())).empty();
  } catch (...) {
    return false;
  }
}

TensorDict load(const FileBytes& file, const FileOptions& options) {
  refuse_old(file);
  return Loader(file, options).load();
}

at::Tensor load_tensor(const FileBytes& file, const FileOptions& options) {
  refuse_old(file);
  return Loader(file, options).load_tensor();
}

}  // namespace td::pickled
