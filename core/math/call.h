// core/math/call.h: calls any operator of libtorch by name on each leaf of a dictionary.
#pragma once

#include "core/math/integer_division.h"
#include "core/tree/tensordict.h"

#include <ATen/core/ivalue.h>

#include <memory>

namespace c10 {
class OperatorHandle;  // its header includes <iostream>, which adds static initializers
struct FunctionSchema;
}  // namespace c10

namespace td {

// An argument of an operator; without a name, positional.
struct CallArgument {
  enum class Kind {
    leaf,    // the leaf itself
    dict,    // the leaf of another dictionary at the same path
    tensor,  // the same tensor for all leaves
    integer,
    real,
    boolean,
    none,
    text,
    dtype,  // `value` is the number of a c10::ScalarType
    device,
    integers,
    reals,
    booleans,
  };

  Kind kind = Kind::leaf;
  std::string name;
  c10::IValue value;  // for kinds from `tensor` on
  NodePtr dict;

  static CallArgument leaf(std::string name = {}) { return {Kind::leaf, std::move(name), {}, {}}; }
  static CallArgument of(Kind kind, c10::IValue value, std::string name = {}) {
    return {kind, std::move(name), std::move(value), {}};
  }
  static CallArgument of(const TensorDict& td, std::string name = {}) {
    return {Kind::dict, std::move(name), {}, td.node()};
  }
};

// Whether to use libtorch's `_foreach_…` operators, one call for all leaves.
enum class Fuse {
  on_device,  // if all leaves are on CUDA devices, where each call launches a kernel
  always,     // on any device, for tests; fails if libtorch has no such operator
  never,
};

struct CallOptions {
  std::optional<Sizes> batch;  // of all dictionaries in the result, if it changes
  Fuse fuse = Fuse::on_device;
};

// An operator and its arguments, checked against its schema.
class Operator {
 public:
  // Names look like "aten::add.Tensor"; the default namespace is "aten". Without an overload, takes the first
  // that accepts the arguments: "" first, the others alphabetically. If no argument is the leaf, it becomes
  // the first one. Throws Code::unsupported if the operator does not exist or cannot be called for leaves,
  // Code::invalid_argument if no schema accepts the arguments.
  Operator(std::string_view name, c10::ArrayRef<CallArgument> arguments);

  // The number of result dictionaries.
  std::size_t results() const noexcept { return results_; }
  bool in_place() const noexcept { return in_place_; }

  // Throws Code::invalid_argument for an operator that writes into the leaves.
  std::vector<TensorDict> call(const TensorDict& td, const CallOptions& options = {}) const;
  // Throws Code::invalid_argument for any other operator.
  void call_inplace(const TensorDict& td, const CallOptions& options = {}) const;

 private:
  friend class OperatorCall;
  friend class CallStack;
  static constexpr int leaf_at = -1, constant = -2, absent = -3;  // else an index into dicts_

  struct Slot {
    int source;
    c10::IValue value;
  };

  // Whether the schema accepts the arguments; if not, `why` receives the reason.
  bool match(const c10::FunctionSchema& schema, c10::ArrayRef<CallArgument> arguments,
             std::string* why);
  void accept(const c10::OperatorHandle& handle);
  void copy_numbers(const c10::FunctionSchema& schema);

  std::shared_ptr<const c10::OperatorHandle> handle_;
  std::vector<Slot> slots_;  // one for each argument of the schema
  std::vector<NodePtr> dicts_;
  std::size_t results_ = 0;
  bool in_place_ = false;
  bool draws_ = false;  // uses random numbers
  math::Division division_ = math::Division::none;
};

// Calls an operator with one result: call(td, "aten::clamp", …).
TensorDict call(const TensorDict& td, std::string_view name,
                c10::ArrayRef<CallArgument> arguments = {}, const CallOptions& options = {});

void call_inplace(const TensorDict& td, std::string_view name,
                  c10::ArrayRef<CallArgument> arguments = {}, const CallOptions& options = {});

}  // namespace td
