// tensordict/td_call.h
#include "core/math/call.h"
#include "arguments.h"
#include "guard.h"

namespace {

using Kind = td::CallArgument::Kind;

template <class T>
std::vector<T> list_in(const T* values, std::size_t count, const char* name) {
  if (count != 0) not_null(values, name);
  return std::vector<T>(values, values + count);
}

c10::List<bool> truths_in(const td_call_argument& given) {
  c10::List<bool> truths;
  for (const std::int64_t one : list_in(given.integers, given.count, "integers"))
    truths.push_back(one != 0);
  return truths;
}

td::CallArgument argument_in(const td_call_argument& given) {
  if (given.reserved[0] != 0 || given.reserved[1] != 0)
    td::fail(td::Code::invalid_argument, "a reserved field of an argument is not zero");
  const std::string name = given.name == nullptr ? "" : given.name;
  const auto of = [&](Kind kind, c10::IValue value) {
    return td::CallArgument::of(kind, std::move(value), name);
  };
  switch (given.kind) {
    case TD_ARGUMENT_LEAF: return td::CallArgument::leaf(name);
    case TD_ARGUMENT_DICT: return td::CallArgument::of(*in(not_null(given.dict, "dict")), name);
    case TD_ARGUMENT_TENSOR:
      return of(Kind::tensor, at::Tensor(*in(not_null(given.tensor, "tensor"))));
    case TD_ARGUMENT_INT: return of(Kind::integer, given.integer);
    case TD_ARGUMENT_DOUBLE: return of(Kind::real, given.real);
    case TD_ARGUMENT_BOOL: return of(Kind::boolean, given.integer != 0);
    case TD_ARGUMENT_NONE: return of(Kind::none, {});
    case TD_ARGUMENT_TEXT: return of(Kind::text, std::string(not_null(given.text, "text")));
    case TD_ARGUMENT_DTYPE:
      return of(Kind::dtype,
                static_cast<std::int64_t>(capi::dtype_in(static_cast<td_dtype>(given.integer))));
    case TD_ARGUMENT_DEVICE:
      return of(Kind::device, capi::real_device_in(static_cast<td_device_type>(given.integer),
                                                   given.device_index));
    case TD_ARGUMENT_INTS:
      return of(Kind::integers, list_in(given.integers, given.count, "integers"));
    case TD_ARGUMENT_DOUBLES: return of(Kind::reals, list_in(given.reals, given.count, "reals"));
    case TD_ARGUMENT_BOOLS: return of(Kind::booleans, truths_in(given));
    default: td::fail(td::Code::unsupported, "an argument of the unknown kind ", given.kind);
  }
}

std::vector<td::CallArgument> arguments_in(const td_call_argument* arguments, std::size_t n) {
  if (n != 0) not_null(arguments, "arguments");
  std::vector<td::CallArgument> result;
  for (std::size_t i = 0; i < n; ++i) result.push_back(argument_in(arguments[i]));
  return result;
}

td::CallOptions call_options_in(const td_call_options* options) {
  const td_call_options given = capi::options_in(options, td_call_options TD_CALL_OPTIONS_INIT);
  td::CallOptions result;
  if (given.has_batch_size != 0)
    result.batch = sizes_in(given.batch_size, given.batch_dims, "batch_size");
  return result;
}

}  // namespace

td_status td_call(const td_tensordict* td, const char* name, const td_call_argument* arguments,
                  size_t arguments_len, const td_call_options* options, td_tensordict** results,
                  size_t results_cap, size_t* count) noexcept {
  return guard(__func__, [&] {
    capi::OutList<td_tensordict> out(results, results_cap, count);
    auto source = in(td);
    const td::CallOptions wanted = call_options_in(options);
    const td::Operator op(not_null(name, "name"), arguments_in(arguments, arguments_len));
    if (out.expect(op.results())) out.put(op.call(source, wanted));
  });
}

td_status td_call_inplace(td_tensordict* td, const char* name, const td_call_argument* arguments,
                          size_t arguments_len) noexcept {
  return guard(__func__, [&] {
    auto target = in(td);
    td::Operator(not_null(name, "name"), arguments_in(arguments, arguments_len))
        .call_inplace(target);
  });
}
