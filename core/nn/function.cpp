// A caller's function as a module.
#include "core/nn/function.h"

#include "core/nn/frame.h"
#include "core/tree/kinds.h"
#include "core/tree/paths.h"
#include "core/tree/walk.h"

#include <algorithm>

namespace td {

namespace {

class FunctionModule final : public Module {
 public:
  FunctionModule(ModuleFn function, FunctionOptions options)
      : function_(std::move(function)), strict_(options.strict) {
    in_keys_ = std::move(options.in_keys);
    out_keys_ = std::move(options.out_keys);
  }

  bool writes_any() const noexcept override { return out_keys_.empty(); }

  std::string to_string() const override { return show("FunctionModule"); }

  void run(Frame& frame, const Node* params) const override {
    if (frame.level() != nullptr) {
      fail(Code::unsupported,
           "a function cannot run with a batch of parameters: it would see tensors of another "
           "shape");
    }
    refuse_params(params);
    if (is_skipped(frame)) return;
    const TensorDict source = in_keys_.empty() ? frame.whole() : inputs(frame);
    const TensorDict result = function_(source).value_or(source);
    if (out_keys_.empty()) return put_new(frame, result);
    for (const KeyPath& key : out_keys_) {
      if (!key.is_dropped()) frame.put(key, find_entry(result.node(), key));
    }
  }

 private:
  TensorDict inputs(const Frame& frame) const {
    const TensorDict made(frame.input().batch_size(), frame.input().device());
    Changes changes;
    for (const KeyPath& key : in_keys_) {
      if (lies_in_another(key)) continue;
      const std::optional<Value> found = frame.find(key);
      if (found && is_dict(*found)) {
        // Pass a shallow copy: the function may set entries in it.
        plan_set(changes, made.node(), key,
                 TensorDict(found->node()).clone(/*recurse=*/false).node());
      } else if (found) {
        plan_set(changes, made.node(), key, *found);
      } else if (strict_) {
        find_entry(frame.whole().node(), key);  // throws, naming what exists
      }
    }
    changes.run();
    return made;
  }

  // Whether the key lies below another input, which is a dictionary.
  bool lies_in_another(const KeyPath& key) const {
    return std::any_of(in_keys_.begin(), in_keys_.end(), [&](const KeyPath& other) {
      return !(other == key) && leads_through(key, other);
    });
  }

  // Skips tensors that the function returned unchanged.
  static void put_new(Frame& frame, const TensorDict& result) {
    visit_paths(*result.node(), [&](Path path, const Value& value) {
      if (is_branch(value)) return;
      const KeyPath key(path);
      const std::optional<Value> before = frame.find(key);
      const bool same = before && before->is_node() == value.is_node() &&
                        (value.is_node() ? before->node() == value.node()
                                         : before->tensor().is_same(value.tensor()));
      if (!same) frame.put_at(key, value);
    });
  }

  ModuleFn function_;
  bool strict_;
};

}  // namespace

ModulePtr module_from_function(ModuleFn function, FunctionOptions options) {
  return std::make_shared<FunctionModule>(std::move(function), std::move(options));
}

}  // namespace td
