#include "core/inspect/state_dict.h"

#include "core/math/gradient.h"
#include "core/meta/format.h"
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/writes.h"
#include "core/tree/device.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include <unordered_map>

namespace td {

namespace {

constexpr std::string_view metadata_key = "_metadata";
constexpr char flat_separator = '.';
constexpr char nested_separator = '\0';  // in no name, so that paths stay apart

std::string join(Path path, char separator) {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i != 0 || separator == nested_separator) text += separator;
    text += path[i];
  }
  return text;
}

std::string metadata_of(const TensorDict& td) {
  std::string text;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name, const Node& node) {
    if (!seen.insert(name).second) {
      fail(Code::key_exists, "two dictionaries are called \"", name, "\" when joined with dots");
    }
    text += text.empty() ? "{" : ",";
    text += format::quote(name) + ":{\"batch_size\":[";
    for (std::size_t i = 0; i < node.batch().size(); ++i) {
      if (i != 0) text += ',';
      text += std::to_string(node.batch()[i]);
    }
    text += "],\"device\":";
    text += node.device() ? format::quote(node.device()->str()) : "null";
    text += "}";
  };
  add("", *td.node());
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (value.is_node() && !is_opaque(*value.node())) {
      add(join(path, flat_separator), *value.node());
    }
  });
  return text + "}";
}

// What a state says of one dictionary.
struct NodeState {
  Sizes batch;
  std::string device;  // empty: none
};
using Metadata = std::unordered_map<std::string, NodeState>;

Metadata read_metadata(const TensorDict& state) {
  Metadata result;
  if (state.kind_of(metadata_key) != EntryKind::non_tensor) return result;
  const auto refuse = [] { fail(Code::format, "the metadata of the state cannot be understood"); };
  const auto json = nlohmann::json::parse(state.get_non_tensor(metadata_key), nullptr,
                                          /*allow_exceptions=*/false);
  if (!json.is_object()) refuse();
  for (const auto& item : json.items()) {
    NodeState& node = result[item.key()];
    const auto& value = item.value();
    if (!value.is_object() || !value.contains("batch_size") || !value["batch_size"].is_array()) {
      refuse();
    }
    for (const auto& size : value["batch_size"]) {
      if (!size.is_number_unsigned()) refuse();
      node.batch.push_back(size.get<std::int64_t>());
    }
    const auto device = value.find("device");
    if (device == value.end() || device->is_null()) continue;
    if (!device->is_string()) refuse();
    node.device = device->get<std::string>();
  }
  return result;
}

class Loading {
 public:
  Loading(const TensorDict& td, const TensorDict& state, const LoadStateOptions& options)
      : td_(td), options_(options), metadata_(read_metadata(state)) {
    bool nested = false;
    visit_paths(*state.node(), [&](Path path, const Value& value) {
      nested = nested || (value.is_node() && !is_opaque(*value.node()));
      if (!value.is_node()) leaves_.push_back({{path.begin(), path.end()}, value.tensor()});
    });
    if (options.form == StateForm::nested) nested = true;
    if (options.form == StateForm::flat) nested = false;
    separator_ = nested ? nested_separator : flat_separator;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      unused_.emplace(join(leaves_[i].path, separator_), i);
    }
  }

  void run() {
    plan_node({}, *td_.node(), {});
    visit_paths(*td_.node(), [&](Path path, const Value& value) {
      if (!value.is_node()) return plan_leaf(path, value.tensor());
      if (value.node()->kind() == NodeKind::non_tensor) return;
      if (value.node()->kind() != NodeKind::dense) {
        if (value.node()->kind() == NodeKind::nested_tensor) {
          fail(Code::unsupported, show_path(path),
               " is a nested tensor, which a state cannot be loaded into");
        }
        if (is_opaque(*value.node())) return;
        fail(Code::unsupported, show_path(path),
             " is a lazy stack, which a state cannot be loaded into: make it dense first");
      }
      plan_node(path, *value.node(), batch_above(path));
    });
    if (options_.strict && (!missing_.empty() || !unused_.empty())) fail_keys();
    writes_.prepare();
    for (const auto& [node, batch] : batches_) {
      if (node->batch() == SizesView(batch)) continue;
      if (node->batch().size() != batch.size()) node->set_names({});
      node->set_batch(batch);
    }
    for (const Leaf& put : puts_) TensorDict(td_).set(Path(put.path), put.tensor);
    writes_.run();
  }

 private:
  struct Leaf {
    std::vector<std::string_view> path;
    at::Tensor tensor;
  };

  SizesView batch_above(Path path) const {
    const auto found = batch_of_.find(join(path.slice(0, path.size() - 1), nested_separator));
    return found == batch_of_.end() ? SizesView() : SizesView(found->second);
  }

  void plan_node(Path path, Node& node, SizesView above) {
    Sizes batch(node.batch().begin(), node.batch().end());
    const auto found = metadata_.find(join(path, flat_separator));
    if (found != metadata_.end()) {
      batch = found->second.batch;
      const std::string device = node.device() ? node.device()->str() : "";
      if (found->second.device != device) {
        fail(Code::device, show(path), " has ", name_of(device), ", the state was taken from ",
             name_of(found->second.device));
      }
    }
    if (!begins_with(batch, above)) {
      fail(Code::shape, "batch dimension mismatch: ", show(path), " would have batch size ",
           show_sizes(batch), ", which does not begin with ", show_sizes(above));
    }
    if (options_.assign && node.locked()) {
      fail(Code::locked, show(path), " is locked: its tensors cannot be replaced");
    }
    batch_of_.emplace(join(path, nested_separator), batch);
    batches_.emplace_back(&node, std::move(batch));
  }

  void plan_leaf(Path path, const at::Tensor& target) {
    const SizesView batch = batch_above(path);
    const auto found = unused_.find(join(path, separator_));
    const at::Tensor* source = found == unused_.end() ? nullptr : &leaves_[found->second].tensor;
    const SizesView sizes = options_.assign && source ? source->sizes() : target.sizes();
    if (!begins_with(sizes, batch)) {
      fail(Code::shape, "batch dimension mismatch: ", show_path(path), " has shape ",
           show_sizes(sizes), ", which does not begin with the batch size ", show_sizes(batch),
           " of the state");
    }
    if (source == nullptr) {
      missing_.push_back(show_path(path));
      return;
    }
    if (!options_.assign) {
      if (!broadcasts(source->sizes(), target.sizes())) {
        fail(Code::shape, "cannot load shape ", show_sizes(source->sizes()), " into ",
             show_path(path), " of shape ", show_sizes(target.sizes()));
      }
      writes_.set(path, target, *source);
    } else {
      puts_.push_back({{path.begin(), path.end()}, *source});
    }
    unused_.erase(found);
  }

  [[noreturn]] void fail_keys() const {
    const auto list = [](const std::vector<std::string>& names) {
      std::string text;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (i == 12) return text + ", … (" + std::to_string(names.size()) + " in all)";
        text += (i == 0 ? "" : ", ") + names[i];
      }
      return names.empty() ? std::string("nothing") : text;
    };
    std::vector<std::string> extra;
    for (const Leaf& leaf : leaves_) {
      if (unused_.count(join(leaf.path, separator_)) != 0) extra.push_back(show_path(leaf.path));
    }
    fail(Code::key_not_found, "the keys do not match: the state lacks ", list(missing_),
         ", and has in addition ", list(extra));
  }

  static std::string show(Path path) { return path.empty() ? "the dictionary" : show_path(path); }
  static std::string name_of(const std::string& device) {
    return device.empty() ? "no device" : "device \"" + device + "\"";
  }

  const TensorDict& td_;
  const LoadStateOptions& options_;
  const Metadata metadata_;
  char separator_ = flat_separator;
  std::vector<Leaf> leaves_;
  std::unordered_map<std::string, std::size_t> unused_;  // of leaves_, by joined name
  std::unordered_map<std::string, Sizes> batch_of_;      // by joined path
  std::vector<std::pair<Node*, Sizes>> batches_;
  Writes writes_{Writes::Hold::owns};
  std::vector<Leaf> puts_;  // to be stored instead
  std::vector<std::string> missing_;
};

}  // namespace

TensorDict state_dict(const TensorDict& td, const StateOptions& options) {
  const TensorDict source(all_dense(td.node()));
  TensorDict result;
  visit_paths(*source.node(), [&](Path path, const Value& value) {
    if (value.is_node()) {
      if (value.node()->kind() == NodeKind::nested_tensor) {
        fail(Code::unsupported, show_path(path), " is a nested tensor, which a state cannot hold");
      }
      if (options.nested && !is_opaque(*value.node())) result.set(path, TensorDict());
      return;
    }
    at::Tensor leaf = options.keep_vars ? value.tensor() : value.tensor().detach();
    if (options.nested) {
      result.set(path, std::move(leaf));
      return;
    }
    const std::string name = join(path, flat_separator);
    const std::string_view key = name;
    if (result.kind_of(key) != EntryKind::none) {
      fail(Code::key_exists, "two tensors are called \"", name, "\" when joined with dots");
    }
    result.set(key, std::move(leaf));
  });
  if (result.kind_of(metadata_key) != EntryKind::none) {
    fail(Code::key_exists, "the entry ", show_path(metadata_key),
         " stands where a state keeps what it knows of the dictionaries");
  }
  result.set_non_tensor(metadata_key, metadata_of(source));
  return result;
}

void load_state_dict(const TensorDict& td, const TensorDict& state,
                     const LoadStateOptions& options) {
  if (as_dense(td.node().get()) == nullptr) {
    fail(Code::unsupported, "a state can be loaded into a plain dictionary only");
  }
  const TensorDict source(all_dense(state.node()));
  Loading(td, source, options).run();
}

}  // namespace td
