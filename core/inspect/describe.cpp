#include "core/inspect/describe.h"

#include "core/base/sizes.h"
#include "core/meta/format.h"
#include "core/tensor/device.h"
#include "core/tensor/foreign.h"
#include "core/tree/lazy_index.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/traverse.h"

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

namespace td {

namespace {

// Writes one node after the other; what is open is closed when the path gets shorter.
class Describer {
 public:
  std::string run(const NodePtr& root) {
    limit_.emplace(*root);
    begin(root);
    walk_.run_in_order(
        [&](Level& level) {
          if (level.next == level.names.size()) return false;
          const std::size_t i = level.next++;
          if (i != 0) text_ += ", ";
          const std::string name = level.names[i];
          text_ += quote(name) + ": ";
          entry(NodePtr(level.node), name);
          return true;
        },
        [&](const Level&) { text_ += "}}"; });
    return std::move(text_);
  }

 private:
  // A dictionary of any kind. No tensor of a lazy stack is read: they may differ in shape.
  struct Level {
    NodePtr node;
    std::vector<std::string> names;
    std::size_t next;
  };

  void begin(const NodePtr& node) {
    walk_.add({node, entry_names(*node), 0});
    open(*node);
  }

  void entry(const NodePtr& holder, std::string_view name) {
    if (kind_below(holder, name) == EntryKind::tensor) {
      const LeafLook look = look_at_leaf(holder, name);
      return leaf(look.sizes, look.sample, *holder);
    }
    const NodePtr node = entry_of(holder, name)->take_node();
    if (!is_opaque(*node)) {
      limit_->enter(*node);
      begin(node);
    } else if (node->kind() == NodeKind::non_tensor) {
      text_ += "{\"value\": " + static_cast<const NonTensorNode&>(*node).json() + "}";
    } else {
      text_ += "{\"values\": " + non_tensor_json(*node) + "}";
    }
  }

  void open(const Node& node) {
    text_ += "{\"batch_size\": " + show_sizes(node.batch());
    if (node.device()) text_ += ", \"device\": " + quote(node.device()->str());
    if (!node.names().empty()) {
      text_ += ", \"names\": [";
      for (std::size_t i = 0; i < node.names().size(); ++i) {
        const auto& name = node.names()[i];
        text_ += (i == 0 ? "" : ", ") + (name ? quote(*name) : std::string("null"));
      }
      text_ += "]";
    }
    text_ += ", \"entries\": {";
  }

  void leaf(SizesView sizes, const at::Tensor& tensor, const Node& above) {
    const std::string_view dtype = format::dtype_name(tensor.scalar_type());
    if (dtype.empty()) {
      fail(Code::dtype, "a tensor of ", c10::toString(tensor.scalar_type()),
           " cannot be described");
    }
    text_ += "{\"dtype\": " + quote(dtype) + ", \"shape\": " + show_sizes(sizes);
    if (!above.device()) text_ += ", \"device\": " + quote(tensor.device().str());
    text_ += "}";
  }

  std::string text_;
  Traversal<Level> walk_;
  std::optional<PathLimit> limit_;
};

using Json = nlohmann::ordered_json;

class Builder {
 public:
  explicit Builder(const FromSchemaOptions& options) : options_(options) {}

  NodePtr run(const Json& root) {
    if (!root.is_object()) fail(Code::format, "a description is a JSON object");
    if (!root.contains("entries")) fail(Code::format, "the description has no \"entries\"");
    const auto result = node(root, nullptr, "the dictionary");
    walk_.run([&](const Place& at) {
      for (const auto& item : at.entries->items()) {
        const std::string_view key = item.key();
        check_path(key);
        at.node->put(key, entry(item.value(), *at.node, quote(key)));
      }
    });
    return result;
  }

 private:
  struct Place {
    const Json* entries;
    DenseNode* node;  // held by the one above, or by the result
  };

  c10::intrusive_ptr<DenseNode> node(const Json& json, const DenseNode* above,
                                     const std::string& where) {
    for (const auto& item : json.items()) {
      const std::string& key = item.key();
      if (key != "batch_size" && key != "device" && key != "names" && key != "entries") {
        fail(Code::format, where, " has a field ", quote(key), ", which is unknown");
      }
    }
    const Json& entries = json.at("entries");
    if (!entries.is_object()) fail(Code::format, "the entries of ", where, " are not an object");
    const Sizes batch = json.contains("batch_size") ? sizes(json.at("batch_size"), where)
                        : above == nullptr          ? Sizes()
                                           : Sizes(above->batch().begin(), above->batch().end());
    if (above != nullptr) require_batch(where, batch, above->batch());
    std::optional<c10::Device> device = options_.device;
    if (!device && above != nullptr) device = above->device();
    if (!device && json.contains("device")) device = device_of(json.at("device"), where);
    if (device) device = resolve_device(*device);
    if (device && options_.content == Content::meta) device = c10::Device(c10::kMeta);
    auto result = c10::make_intrusive<DenseNode>(batch, device);
    if (json.contains("names")) result->set_names(names(json.at("names"), batch.size(), where));
    walk_.add({&entries, result.get()});
    return result;
  }

  Value entry(const Json& json, const DenseNode& above, const std::string& where) {
    if (!json.is_object()) fail(Code::format, "the entry ", where, " is not an object");
    if (json.contains("entries")) return NodePtr(node(json, &above, where));
    if (json.contains("value") || json.contains("values")) return data(json, above, where);
    return leaf(json, above, where);
  }

  static NodePtr data(const Json& json, const DenseNode& above, const std::string& where) {
    if (json.size() != 1) fail(Code::format, "the value ", where, " has fields besides its value");
    const bool one = json.contains("value");
    const Json& value = json.at(one ? "value" : "values");
    require_depth(value, where);
    if (one) return c10::make_intrusive<NonTensorNode>(value.dump(), above.batch(), above.device());
    return non_tensor_from_json(value.dump(), above.batch(), above.device());
  }

  at::Tensor leaf(const Json& json, const DenseNode& above, const std::string& where) const {
    for (const auto& item : json.items()) {
      const std::string& key = item.key();
      if (key != "dtype" && key != "shape" && key != "device") {
        fail(Code::format, where, " has a field ", quote(key), ", which is unknown");
      }
    }
    if (!json.contains("dtype") || !json.at("dtype").is_string() || !json.contains("shape")) {
      fail(Code::format, where, " needs a \"dtype\" and a \"shape\"");
    }
    const c10::ScalarType dtype =
        format::parse_dtype(json.at("dtype").get_ref<const std::string&>(), where);
    const Sizes shape = sizes(json.at("shape"), where);
    require_batch(where, shape, above.batch());
    std::optional<c10::Device> device = above.device();
    if (!device && json.contains("device")) device = device_of(json.at("device"), where);
    if (options_.content == Content::meta) device = c10::Device(c10::kMeta);
    return make(shape, dtype, device.value_or(c10::Device(c10::kCPU)));
  }

  at::Tensor make(const Sizes& shape, c10::ScalarType dtype, c10::Device device) const {
    if (options_.content == Content::zeros || device.is_meta()) return zeros(shape, dtype, device);
    return uninitialised(shape, dtype, device);
  }

  static std::optional<c10::Device> device_of(const Json& json, const std::string& where) {
    if (json.is_null()) return std::nullopt;
    if (!json.is_string()) fail(Code::format, "the device of ", where, " is not a string");
    return parse_device(json.get<std::string>());
  }

  static Sizes sizes(const Json& json, const std::string& where) {
    if (!json.is_array() || json.size() > max_dims) {
      fail(Code::format, "the sizes of ", where, " are not a list of at most ", max_dims);
    }
    Sizes result;
    for (const Json& size : json) {
      if (!size.is_number_unsigned() ||
          size.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
        fail(Code::format, "the sizes of ", where, " hold something that is not a size");
      }
      result.push_back(size.get<std::int64_t>());
    }
    return result;
  }

  static Names names(const Json& json, std::size_t dims, const std::string& where) {
    if (!json.is_array() || json.size() != dims) {
      fail(Code::format, "the names of ", where, " are not a list of ", dims);
    }
    Names result;
    for (const Json& name : json) {
      if (!name.is_null() && !name.is_string()) {
        fail(Code::format, "the names of ", where, " hold something that is not a name");
      }
      result.push_back(name.is_null() ? std::nullopt
                                      : std::optional<std::string>(name.get<std::string>()));
    }
    return result;
  }

  static void require_batch(const std::string& where, SizesView sizes, SizesView batch) {
    if (sizes.size() >= batch.size() && sizes.slice(0, batch.size()) == batch) return;
    fail(Code::shape, "batch dimension mismatch: ", where, " has shape ", show_sizes(sizes),
         ", which does not begin with the batch size ", show_sizes(batch));
  }

  // Writing a value recurses.
  static void require_depth(const Json& value, const std::string& where) {
    std::vector<std::pair<const Json*, std::size_t>> pending{{&value, 0}};
    while (!pending.empty()) {
      const auto [at, depth] = pending.back();
      pending.pop_back();
      if (depth > max_json_depth) {
        fail(Code::format, "the value ", where, " is nested more than ", max_json_depth, " deep");
      }
      for (const Json& inner : *at) {
        if (inner.is_structured()) pending.emplace_back(&inner, depth + 1);
      }
    }
  }

  const FromSchemaOptions& options_;
  Traversal<Place> walk_;
};

}  // namespace

std::string describe_dict(const TensorDict& td) {
  NodePtr root = td.node();
  if (is_opaque(*root)) {
    fail(Code::unsupported, "a non-tensor value is not described alone");
  }
  if (const SubTensorDictNode* part = as_sub_tensordict(root.get()))
    root = read_at(part->parent(), part->items());
  return Describer().run(root);
}

TensorDict from_schema(std::string_view text, const FromSchemaOptions& options) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) fail(Code::format, "the description is not JSON");
  return TensorDict(Builder(options).run(json));
}

}  // namespace td
