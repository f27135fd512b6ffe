// core/math/operators.h: calls by name through libtorch's dispatcher. Internal.
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

// nullptr if it does not exist.
Handle find(const std::string& name, const std::string& overload);

const c10::OperatorName& name_of(const c10::OperatorHandle& handle);
std::size_t arguments_of(const c10::OperatorHandle& handle);

// Replaces the arguments on the stack by the results.
void call(const c10::OperatorHandle& handle, std::vector<c10::IValue>& stack);

}  // namespace td::operators
