#include "core/inspect/describe.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/tensor/device.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"
#include "core/tensor/sizes.h"
#include "core/tree/engine.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"

#include <ATen/ATen.h>

#include <limits>

namespace td {

namespace {

// Describes each node. Reads no tensor of a lazy stack: elements may differ in shape.
class Describer : public WalkSink<Take::looks> {
 public:
  void enter(const Here& here, Dicts) {
    if (!here.is_root()) begin(here);
    open(here.node());
  }
  void leaf(const Here& here, Tensors tensors) {
    begin(here);
    leaf(tensors[0]->sizes(), *tensors[0], here.node());
  }
  void look(const Here& here, const NodePtr& node, const std::string& name) {
    begin(here);
    const LeafLook look = look_at_leaf(node, name);
    leaf(look.sizes, look.sample, *node);
  }
  void value(const Here& here, NodesHere nodes) {
    begin(here);
    const Plain* one = one_value(*nodes[0]);
    text_ += one != nullptr ? "{\"value\": " + json_text(*one) + "}"
                            : "{\"values\": " + non_tensor_json(*nodes[0]) + "}";
  }
  Made leave(const Here&, bool) {
    text_ += "}}";
    return {};
  }

  std::string take() { return std::move(text_); }

 private:
  void begin(const Here& here) {
    if (text_.back() != '{') text_ += ", ";
    text_ += quote(here.name()) + ": ";
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
    const std::string_view dtype = stored_name(tensor.scalar_type());
    if (dtype.empty()) {
      fail(Code::dtype, "a tensor of ", dtype_name(tensor.scalar_type()), " cannot be described");
    }
    text_ += "{\"dtype\": " + quote(dtype) + ", \"shape\": " + show_sizes(sizes);
    if (!above.device()) text_ += ", \"device\": " + quote(tensor.device().str());
    text_ += "}";
  }

  std::string text_;
};

class Builder {
 public:
  explicit Builder(const FromSchemaOptions& options) : options_(options) {}

  NodePtr run(const Plain& root) {
    if (!root.is(Plain::object)) fail(Code::format, "a description is a JSON object");
    if (root.find("entries") == nullptr) fail(Code::format, "the description has no \"entries\"");
    const auto result = node(root, nullptr, "the dictionary");
    while (!pending_.empty()) {
      const Place at = pending_.back();
      pending_.pop_back();
      for (std::size_t i = 0; i < at.entries->items().size(); ++i) {
        const std::string_view key = at.entries->name(i);
        check_path(key);
        at.node->put(key, entry(at.entries->items()[i], *at.node, quote(key)));
      }
    }
    return result;
  }

 private:
  struct Place {
    const Plain* entries;
    DenseNode* node;  // held by its parent, or by the result
  };

  c10::intrusive_ptr<DenseNode> node(const Plain& json, const DenseNode* above,
                                     const std::string& where) {
    for (const Plain& one : json.names()) {
      const std::string_view key = one.characters();
      if (key != "batch_size" && key != "device" && key != "names" && key != "entries") {
        fail(Code::format, where, " has a field ", quote(key), ", which is unknown");
      }
    }
    const Plain* const entries = json.find("entries", Plain::object);
    if (entries == nullptr) fail(Code::format, "the entries of ", where, " are not an object");
    const Plain* const given = json.find("batch_size");
    const SizesView outer = above == nullptr ? SizesView() : above->batch();
    const Sizes batch =
        given != nullptr ? known(sizes(*given, where), outer) : Sizes(outer.begin(), outer.end());
    if (above != nullptr) require_batch(where, batch, above->batch());
    std::optional<c10::Device> device = options_.device;
    if (!device && above != nullptr) device = above->device();
    if (!device) device = device_of(json.find("device"), where);
    if (device) device = resolve_device(*device);
    if (device && options_.content == Content::meta) device = c10::Device(c10::kMeta);
    auto result = c10::make_intrusive<DenseNode>(batch, device);
    if (const Plain* list = json.find("names")) {
      result->set_names(names(*list, batch.size(), where));
    }
    pending_.push_back({entries, result.get()});
    return result;
  }

  Value entry(const Plain& json, const DenseNode& above, const std::string& where) {
    if (!json.is(Plain::object)) fail(Code::format, "the entry ", where, " is not an object");
    if (json.find("entries") != nullptr) return NodePtr(node(json, &above, where));
    if (json.find("value") != nullptr || json.find("values") != nullptr) {
      return data(json, above, where);
    }
    return leaf(json, above, where);
  }

  static NodePtr data(const Plain& json, const DenseNode& above, const std::string& where) {
    if (json.items().size() != 1) {
      fail(Code::format, "the value ", where, " has fields besides its value");
    }
    require_depth(json.items()[0], where);
    if (json.name(0) == "values") {
      return non_tensor_of_lists(json.items()[0], above.batch(), above.device());
    }
    return c10::make_intrusive<NonTensorNode>(json.items()[0], above.batch(), above.device());
  }

  at::Tensor leaf(const Plain& json, const DenseNode& above, const std::string& where) const {
    for (const Plain& one : json.names()) {
      const std::string_view key = one.characters();
      if (key != "dtype" && key != "shape" && key != "device") {
        fail(Code::format, where, " has a field ", quote(key), ", which is unknown");
      }
    }
    const Plain* const dtype_name = json.find("dtype", Plain::text);
    const Plain* const given = json.find("shape");
    if (dtype_name == nullptr || given == nullptr) {
      fail(Code::format, where, " needs a \"dtype\" and a \"shape\"");
    }
    const c10::ScalarType dtype = parse_dtype(dtype_name->characters(), where);
    const Sizes shape = known(sizes(*given, where), above.batch());
    require_batch(where, shape, above.batch());
    std::optional<c10::Device> device = above.device();
    if (!device) device = device_of(json.find("device"), where);
    if (options_.content == Content::meta) device = c10::Device(c10::kMeta);
    return make(shape, dtype, device.value_or(c10::Device(c10::kCPU)));
  }

  at::Tensor make(const Sizes& shape, c10::ScalarType dtype, c10::Device device) const {
    if (options_.content == Content::zeros || device.is_meta()) return zeros(shape, dtype, device);
    return uninitialised(shape, dtype, device);
  }

  static std::optional<c10::Device> device_of(const Plain* json, const std::string& where) {
    if (json == nullptr || json->is(Plain::null)) return std::nullopt;
    if (!json->is(Plain::text)) fail(Code::format, "the device of ", where, " is not a string");
    return parse_device(std::string(json->characters()));
  }

  static Sizes sizes(const Plain& json, const std::string& where) {
    if (!json.is(Plain::list) || json.items().size() > max_dims) {
      fail(Code::format, "the sizes of ", where, " are not a list of at most ", max_dims);
    }
    Sizes result;
    for (const Plain& size : json.items()) {
      if (!size.is(Plain::integer) || size.integral() < -1) {
        fail(Code::format, "the sizes of ", where, " hold something that is not a size");
      }
      result.push_back(size.integral());
    }
    return result;
  }

  // Replaces -1, where elements of a lazy stack differ, by the batch's size, or by 0 if that is unknown, too.
  // If the elements' dimensions differ, adds those of the batch.
  static Sizes known(Sizes sizes, SizesView batch) {
    const bool differs = std::find(sizes.begin(), sizes.end(), -1) != sizes.end();
    if (!differs) return sizes;
    if (sizes.size() < batch.size()) sizes.resize(batch.size(), -1);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < 0) sizes[i] = i < batch.size() ? batch[i] : 0;
    }
    return sizes;
  }

  static Names names(const Plain& json, std::size_t dims, const std::string& where) {
    if (!json.is(Plain::list) || json.items().size() != dims) {
      fail(Code::format, "the names of ", where, " are not a list of ", dims);
    }
    Names result;
    for (const Plain& name : json.items()) {
      if (!name.is(Plain::null) && !name.is(Plain::text)) {
        fail(Code::format, "the names of ", where, " hold something that is not a name");
      }
      result.push_back(name.is(Plain::null) ? std::nullopt
                                            : std::optional<std::string>(name.characters()));
    }
    return result;
  }

  static void require_batch(const std::string& where, SizesView sizes, SizesView batch) {
    if (sizes.size() >= batch.size() && sizes.slice(0, batch.size()) == batch) return;
    fail(Code::shape, "batch dimension mismatch: ", where, " has shape ", show_sizes(sizes),
         ", which does not begin with the batch size ", show_sizes(batch));
  }

  // Bounds the nesting: writing a value recurses.
  static void require_depth(const Plain& value, const std::string& where) {
    if (!is_deeper(value, max_json_depth + 1)) return;
    fail(Code::format, "the value ", where, " is nested more than ", max_json_depth, " deep");
  }

  const FromSchemaOptions& options_;
  std::vector<Place> pending_;
};

}  // namespace

std::string describe_dict(const TensorDict& td) {
  if (!is_dict(*td.node())) {
    fail(Code::unsupported, "a non-tensor value is not described alone");
  }
  Describer describer;
  walk(picked_form(td.node()), describer, all_paths());
  return describer.take();
}

TensorDict from_schema(std::string_view text, const FromSchemaOptions& options) {
  const Plain tree = read_json(text, "the description", std::numeric_limits<std::size_t>::max());
  return TensorDict(Builder(options).run(tree));
}

}  // namespace td
