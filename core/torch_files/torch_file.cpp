// Builds a dictionary from a pickle over the storages of its archive.
#include "core/torch_files/torch_file.h"

#include "core/torch_files/made_nodes.h"
#include "core/torch_files/torch_archive.h"

#include "core/consolidated/packing.h"
#include "core/formats/format.h"
#include "core/tree/engine.h"
#include "core/tree/paths.h"

#include <algorithm>

namespace td::pickled {

namespace {

// Which objects contain a tensor, or an object of tensordict, at any depth. One pass over all; refuses an object that contains itself.
class Holders {
 public:
  Holders(const Pickle& pickle, const std::string& where) : state_(pickle.objects.size(), unseen) {
    std::vector<std::pair<Ref, std::size_t>> open{{pickle.root, 0}};
    state_[pickle.root] = begun;
    while (!open.empty()) {
      const Ref ref = open.back().first;
      const Object& object = pickle.objects[ref];
      if (open.back().second == object.items.size()) {
        if (state_[ref] == begun) state_[ref] = holds(object) ? yes : no;
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

  static bool holds(const Object& object) noexcept {
    return object.kind == Kind::tensor || object.kind == Kind::made;
  }

  void pass_up(Ref holder, Ref item) {
    if (state_[item] == begun_with) state_[item] = yes;
    if (state_[item] == yes) state_[holder] = begun_with;
  }

  std::vector<State> state_;
};

class Loader {
 public:
  Loader(const FileBytes& file, const FileOptions& options)
      : options_(options),
        archive_(file, options),
        holders_(pickle(), archive_.where()),
        bytes_left_(pickle().most_text),
        made_(archive_, options, entries_, bytes_left_) {}

  TensorDict load() {
    const Object& root = object(pickle().root);
    if (root.kind == Kind::tensor) {
      leaves_.push_back({{}, {std::string(nameless)}, archive_.tensor(root.number)});
    } else if (root.kind == Kind::made) {
      return made_root(made_.read(pickle().root));
    } else if (is_dictionary(pickle().root)) {
      walk();
    } else {
      fail(Code::wrong_entry, archive_.where(), " holds neither a tensor nor a dictionary");
    }
    TensorDict tree = build_tree(leaves_, &extras_, options_, archive_.where());
    for (const auto& [path, node] : nodes_) {
      Changes changes;
      plan_set(changes, tree.node(), path_view(path), Value(node));
      changes.run();
    }
    made_.lock_all();
    return tree;
  }

  at::Tensor load_tensor() {
    const Object& root = object(pickle().root);
    if (root.kind == Kind::tensor) return archive_.tensor(root.number);
    // torch::save of one tensor writes an object with this single attribute.
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
    std::size_t names;  // length of the path before it
  };

  // With other batch dimensions than those of the file, nothing but the tensors and the values is taken.
  TensorDict made_root(const NodePtr& node) {
    if (!is_dict(*node)) {
      fail(Code::wrong_entry, archive_.where(), " holds a non-tensor value, not a dictionary");
    }
    if (options_.batch_dims == 0) {
      made_.lock_all();
      return TensorDict(node);
    }
    FlatTree flat = flatten(TensorDict(node), options_);
    flat.extras.dicts.clear();
    return build_tree(flat.leaves, &flat.extras, options_, archive_.where());
  }

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
        push_name(key_of(pickle(), value, archive_.where()));
        value = holder.items[level.next + 1];
        level.next += 2;
      } else {
        path_.push_back(std::to_string(level.next++));
      }
      if (holder.object && !holders_(value)) continue;  // internal attributes of TorchScript
      if (++entries_ > options_.max_entries) {
        fail(Code::format, archive_.where(), ": more than ", options_.max_entries, " entries");
      }
      if (!is_dictionary(value)) count_path();
      if (object(value).kind == Kind::tensor) {
        leaves_.push_back({{}, path_, archive_.tensor(object(value).number)});
      } else if (object(value).kind == Kind::made) {
        nodes_.emplace_back(path_, made_.read(value));
      } else if (is_dictionary(value)) {
        if (path_.size() > options_.max_depth) {
          fail(Code::format, archive_.where(), ": nested deeper than ", options_.max_depth,
               " levels");
        }
        if (object(value).items.empty()) count_path();
        if (object(value).items.empty()) extras_.dicts.push_back({path_, {}, {}});
        levels.push_back({value, 0, path_.size()});
      } else {
        extras_.data.push_back({path_, plain_of(value), false});
      }
    }
  }

  // A name that occurs once in the file may be reached by many paths.
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

  Plain plain_of(Ref ref) {
    return pickled::plain_of(pickle(), ref, bytes_left_, archive_.where());
  }

  const FileOptions& options_;
  Archive archive_;
  Holders holders_;
  std::vector<FlatLeaf> leaves_;
  FlatExtras extras_;
  OwnedPath path_;
  std::size_t entries_ = 0;
  std::size_t bytes_left_;  // for values
  std::size_t path_bytes_ = 0;
  MadeNodes made_;
  std::vector<std::pair<OwnedPath, NodePtr>> nodes_;
};

void refuse_old(const FileBytes& file) {
  if (file.text().substr(0, 1) == "\x80") {
    fail(Code::unsupported, file.where(),
         " was written by torch.save before 1.6, or is a bare pickle: save it again with a newer "
         "version");
  }
}

}  // namespace

TensorDict load(const FileBytes& file, const FileOptions& options) {
  refuse_old(file);
  return Loader(file, options).load();
}

at::Tensor load_tensor(const FileBytes& file, const FileOptions& options) {
  refuse_old(file);
  return Loader(file, options).load_tensor();
}

}  // namespace td::pickled
