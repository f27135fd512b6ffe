// core/math/operators.h: libtorch's dispatcher, as far as calls by name need it. For the core's own sources.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/operator_name.h>

#include <memory>
#include <string>
#include <vector>

namespace c10 {
class OperatorHandle;
}

namespace td::operators {

using Handle = std::shared_ptr<const c10::OperatorHandle>;

// nullptr when there is none.
Handle find(const std::string& name, const std::string& overload);

const c10::OperatorName& name_of(const c10::OperatorHandle& handle);
std::size_t arguments_of(const c10::OperatorHandle& handle);

// Takes the arguments off the stack and puts the results there.
void call(const c10::OperatorHandle& handle, std::vector<c10::IValue>& stack);

}  // namespace td::operators
