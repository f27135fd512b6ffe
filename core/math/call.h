// core/math/call.h: any operator of libtorch, by its name, on every leaf of a dictionary.
#pragma once

#include "core/math/integer_division.h"
#include "core/tree/tensordict.h"

#include <ATen/core/ivalue.h>

#include <memory>

namespace c10 {
class OperatorHandle;  // its header includes <iostream>, which makes objects at load
struct FunctionSchema;
}  // namespace c10

namespace td {

// One argument of an operator. Without a name it stands at its position.
struct CallArgument {
  enum class Kind {
    leaf,    // the leaf that the operator is called for
    dict,    // the leaf of another dictionary under the same path
    tensor,  // this tensor, for every leaf
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
  c10::IValue value;  // of the kinds from `tensor` on
  NodePtr dict;

  static CallArgument leaf(std::string name = {}) { return {Kind::leaf, std::move(name), {}, {}}; }
  static CallArgument of(Kind kind, c10::IValue value, std::string name = {}) {
    return {kind, std::move(name), std::move(value), {}};
  }
  static CallArgument of(const TensorDict& td, std::string name = {}) {
    return {Kind::dict, std::move(name), {}, td.node()};
  }
};

// When one call for all leaves, an operator `_foreach_…` of libtorch, takes the place of one for each.
enum class Fuse {
  on_device,  // when all leaves lie on CUDA devices, where each call starts a kernel
  always,     // anywhere, for tests without such a device; fails where there is none
  never,
};

struct CallOptions {
  std::optional<Sizes> batch;  // of the result and all dictionaries in it, if it changes
  Fuse fuse = Fuse::on_device;
};

// An operator and its arguments, checked against its schema before any leaf is looked at.
class Operator {
 public:
  // "aten::add.Tensor"; without an overload the first one that takes the arguments, "" before the
  // others, which stand in alphabetical order; without a namespace one of "aten". When no argument
  // stands for the leaf, it comes first. Throws Code::unsupported for an operator that does not exist or
  // cannot be called for leaves, Code::invalid_argument for arguments that no schema takes.
  Operator(std::string_view name, c10::ArrayRef<CallArgument> arguments);

  // How many dictionaries a call gives.
  std::size_t results() const noexcept { return results_; }
  // Whether it writes into the leaves.
  bool in_place() const noexcept { return in_place_; }

  // Throws Code::invalid_argument for an operator that writes into the leaves.
  std::vector<TensorDict> call(const TensorDict& td, const CallOptions& options = {}) const;
  // Throws Code::invalid_argument for any other.
  void call_inplace(const TensorDict& td, const CallOptions& options = {}) const;

 private:
  friend class OperatorCall;
  static constexpr int leaf_at = -1, constant = -2, absent = -3;  // else a position in dicts_

  struct Slot {
    int source;
    c10::IValue value;
  };

  // Whether the schema takes the arguments; if not, `why` is told.
  bool match(const c10::FunctionSchema& schema, c10::ArrayRef<CallArgument> arguments,
             std::string* why);
  void accept(const c10::OperatorHandle& handle);

  std::shared_ptr<const c10::OperatorHandle> handle_;
  std::vector<Slot> slots_;  // one for each argument of the schema
  std::vector<NodePtr> dicts_;
  std::size_t results_ = 0;
  bool in_place_ = false;
  bool draws_ = false;  // random numbers
  math::Division division_ = math::Division::none;
};

// call(td, "aten::clamp", …), for an operator with one result.
TensorDict call(const TensorDict& td, std::string_view name,
                c10::ArrayRef<CallArgument> arguments = {}, const CallOptions& options = {});

// call_inplace(td, "aten::mul_", …).
void call_inplace(const TensorDict& td, std::string_view name,
                  c10::ArrayRef<CallArgument> arguments = {}, const CallOptions& options = {});

}  // namespace td
