// Finds an operator of libtorch by name and matches arguments with its schema.
#include "core/math/call.h"

#include "core/math/operators.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/function_schema.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <sstream>
#include <unordered_map>

namespace td {

namespace {

using Kind = CallArgument::Kind;
using Overloads = std::vector<std::string>;
using OperatorNames = std::unordered_map<std::string, std::shared_ptr<const Overloads>>;

OperatorNames all_operators() {
  std::unordered_map<std::string, Overloads> found;
  for (const c10::OperatorName& one : c10::Dispatcher::singleton().getAllOpNames())
    found[one.name].push_back(one.overload_name);
  OperatorNames names;
  for (auto& [name, overloads] : found) {
    std::sort(overloads.begin(), overloads.end());
    names[name] = std::make_shared<const Overloads>(std::move(overloads));
  }
  return names;
}

// The overloads of an operator. The table is built once, and again for unknown names: a library loaded since
// may have added them.
std::shared_ptr<const Overloads> overloads_of(const std::string& name) {
  static auto* const mutex = new std::mutex;  // never destroyed: nothing runs at exit
  static auto* const known = new OperatorNames;
  const std::lock_guard<std::mutex> hold(*mutex);
  auto found = known->find(name);
  if (found == known->end()) {
    *known = all_operators();
    found = known->find(name);
  }
  return found == known->end() ? std::make_shared<const Overloads>() : found->second;
}

// The edit distance, up to `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() >= limit) return limit;
  std::vector<std::size_t> row(a.size() + 1);
  for (std::size_t i = 0; i <= a.size(); ++i) row[i] = i;
  for (std::size_t j = 1; j <= b.size(); ++j) {
    std::size_t corner = row[0];
    row[0] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const std::size_t above = row[i];
      row[i] = std::min({row[i - 1] + 1, above + 1, corner + (a[i - 1] == b[j - 1] ? 0 : 1)});
      corner = above;
    }
  }
  return std::min(row[a.size()], limit);
}

[[noreturn]] void fail_unknown(const std::string& asked) {
  constexpr std::size_t limit = 4;
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& [name, overloads] : all_operators()) {
    const std::size_t away = distance(asked, name, limit);
    if (away < limit) near.emplace_back(away, name);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > 3) near.resize(3);
  std::string text;
  for (const auto& [away, name] : near) text += (text.empty() ? "; near it are " : ", ") + name;
  fail(Code::unsupported, "libtorch has no operator \"", asked, "\"", text);
}

std::string show(const c10::FunctionSchema& schema) {
  std::ostringstream text;
  text << schema;
  return text.str();
}

const char* show(Kind kind) {
  switch (kind) {
    case Kind::leaf:
    case Kind::dict:
    case Kind::tensor: return "a tensor";
    case Kind::integer: return "an integer";
    case Kind::real: return "a number";
    case Kind::boolean: return "a boolean";
    case Kind::none: return "none";
    case Kind::text: return "a text";
    case Kind::dtype: return "a dtype";
    case Kind::device: return "a device";
    case Kind::integers: return "a list of integers";
    case Kind::reals: return "a list of numbers";
    case Kind::booleans: return "a list of booleans";
  }
  return "of an unknown kind";
}

bool memory_format(const std::string& text, c10::IValue& value) {
  static constexpr std::pair<const char*, c10::MemoryFormat> formats[] = {
      {"contiguous_format", c10::MemoryFormat::Contiguous},
      {"preserve_format", c10::MemoryFormat::Preserve},
      {"channels_last", c10::MemoryFormat::ChannelsLast},
      {"channels_last_3d", c10::MemoryFormat::ChannelsLast3d}};
  for (const auto& [name, format] : formats) {
    if (text == name) {
      value = static_cast<std::int64_t>(format);
      return true;
    }
  }
  return false;
}

// Converts a list. libtorch lets a single number stand for a list of fixed length.
bool convert_list(c10::TypeKind element, const c10::Argument& wanted, const CallArgument& given,
                  c10::IValue& value) {
  const std::int64_t n = wanted.N().value_or(0);
  if (element == c10::TypeKind::IntType || element == c10::TypeKind::SymIntType) {
    value = given.value;
    if (given.kind == Kind::integer && n > 0) {
      value = std::vector<std::int64_t>(static_cast<std::size_t>(n), given.value.toInt());
      return true;
    }
    return given.kind == Kind::integers;
  }
  if (element == c10::TypeKind::FloatType) {
    if (given.kind == Kind::integers) {
      const std::vector<std::int64_t> integers = given.value.toIntVector();
      value = std::vector<double>(integers.begin(), integers.end());
      return true;
    }
    value = given.value;
    return given.kind == Kind::reals;
  }
  value = given.value;
  return element == c10::TypeKind::BoolType && given.kind == Kind::booleans;
}

// Converts an argument to the type in the schema, if possible.
bool convert(const c10::Argument& wanted, const CallArgument& given, c10::IValue& value) {
  const c10::Type* type = wanted.real_type().get();
  if (type->kind() == c10::TypeKind::OptionalType) {
    value = c10::IValue();
    if (given.kind == Kind::none) return true;
    type = type->castRaw<c10::OptionalType>()->getElementType().get();
  }
  value = given.value;
  switch (type->kind()) {
    case c10::TypeKind::TensorType: return given.kind <= Kind::tensor;
    case c10::TypeKind::NumberType:
      return given.kind == Kind::integer || given.kind == Kind::real || given.kind == Kind::boolean;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return given.kind == Kind::integer;
    case c10::TypeKind::FloatType:
      if (given.kind == Kind::integer) value = static_cast<double>(given.value.toInt());
      return given.kind == Kind::integer || given.kind == Kind::real;
    case c10::TypeKind::BoolType: return given.kind == Kind::boolean;
    case c10::TypeKind::StringType: return given.kind == Kind::text;
    case c10::TypeKind::ScalarTypeType: return given.kind == Kind::dtype;
    case c10::TypeKind::DeviceObjType: return given.kind == Kind::device;
    case c10::TypeKind::MemoryFormatType:
      return given.kind == Kind::text && memory_format(given.value.toStringRef(), value);
    case c10::TypeKind::ListType:
      return convert_list(type->castRaw<c10::ListType>()->getElementType()->kind(), wanted, given,
                          value);
    default: return false;
  }
}

bool writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// Operators that change a tensor's metadata, or that do not check their arguments.
bool forbidden(const c10::OperatorHandle& handle) {
  static constexpr std::string_view names[] = {"aten::set_",
                                               "aten::set_data",
                                               "aten::resize_",
                                               "aten::resize_as_",
                                               "aten::resize_as_sparse_",
                                               "aten::sparse_resize_",
                                               "aten::requires_grad_",
                                               "aten::sparse_resize_and_clear_",
                                               "aten::rename_",
                                               "aten::retain_grad",
                                               "aten::record_stream",
                                               "aten::as_strided_",
                                               "aten::detach_"};
  const std::string& name = handle.operator_name().name;
  return name.compare(0, 7, "aten::_") == 0 || name.find("unsafe") != std::string::npos ||
         std::find(std::begin(names), std::end(names), name) != std::end(names) ||
         handle.hasTag(at::Tag::inplace_view);
}

}  // namespace

namespace operators {

Handle find(const std::string& name, const std::string& overload) {
  const auto found = c10::Dispatcher::singleton().findSchema({name, overload});
  return found ? std::make_shared<const c10::OperatorHandle>(*found) : nullptr;
}

const c10::OperatorName& name_of(const c10::OperatorHandle& handle) {
  return handle.operator_name();
}

std::size_t arguments_of(const c10::OperatorHandle& handle) {
  return handle.schema().arguments().size();
}

void call(const c10::OperatorHandle& handle, std::vector<c10::IValue>& stack) {
  handle.callBoxed(stack);
}

}  // namespace operators

Operator::Operator(std::string_view name, c10::ArrayRef<CallArgument> arguments) {
  std::string asked(name);
  if (asked.find("::") == std::string::npos) asked.insert(0, "aten::");
  std::vector<CallArgument> all(arguments.begin(), arguments.end());
  const auto is_leaf = [](const CallArgument& one) { return one.kind == Kind::leaf; };
  if (std::none_of(all.begin(), all.end(), is_leaf)) all.insert(all.begin(), CallArgument::leaf());

  const std::size_t dot = asked.find('.');
  const std::string base = asked.substr(0, dot);
  const std::shared_ptr<const Overloads> overloads =
      dot == std::string::npos ? overloads_of(base)
                               : std::make_shared<const Overloads>(1, asked.substr(dot + 1));
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  bool found = false;
  for (const bool explain : {false, true}) {
    std::string reasons;
    for (const std::string& overload : *overloads) {
      const auto handle = dispatcher.findSchema({base, overload});
      if (!handle) continue;
      found = true;
      std::string why;
      if (match(handle->schema(), all, explain ? &why : nullptr)) {
        accept(*handle);
        return;
      }
      const bool out =
          std::any_of(handle->schema().arguments().begin(), handle->schema().arguments().end(),
                      [](const c10::Argument& one) { return one.is_out(); });
      if (explain && (!out || overloads->size() == 1))
        reasons += (reasons.empty() ? "" : "; ") + why + ": " + show(handle->schema());
    }
    if (!found) fail_unknown(asked);
    if (explain) fail(Code::invalid_argument, asked, " cannot be called like this: ", reasons);
  }
}

bool Operator::match(const c10::FunctionSchema& schema, c10::ArrayRef<CallArgument> arguments,
                     std::string* why) {
  const std::vector<c10::Argument>& wanted = schema.arguments();
  const auto reject = [&](const auto&... parts) {
    if (why != nullptr) *why = c10::str(parts...);
    return false;
  };
  dicts_.clear();
  slots_.assign(wanted.size(), Slot{absent, {}});
  std::size_t position = 0;
  for (const CallArgument& given : arguments) {
    std::size_t at = position;
    if (given.name.empty()) {
      if (at >= wanted.size() || wanted[at].kwarg_only())
        return reject("more than ", position, " arguments without a name");
      ++position;
    } else {
      const auto named = schema.argumentIndexWithName(given.name);
      if (!named) return reject("no argument is called \"", given.name, "\"");
      at = static_cast<std::size_t>(*named);
    }
    Slot& slot = slots_[at];
    if (slot.source != absent) return reject("\"", wanted[at].name(), "\" is given twice");
    if (!convert(wanted[at], given, slot.value)) {
      return reject("\"", wanted[at].name(), "\" is ", show(given.kind), ", not ",
                    wanted[at].real_type()->str());
    }
    slot.source = given.kind == Kind::leaf ? leaf_at : constant;
    if (given.kind == Kind::dict) {
      slot.source = static_cast<int>(dicts_.size());
      dicts_.push_back(given.dict);
    }
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].source != absent) continue;
    if (!wanted[i].default_value()) return reject("\"", wanted[i].name(), "\" is missing");
    slots_[i] = {constant, *wanted[i].default_value()};
  }
  return true;
}

void Operator::accept(const c10::OperatorHandle& handle) {
  const c10::FunctionSchema& schema = handle.schema();
  const auto refuse = [&](const char* why) {
    fail(Code::unsupported, schema.operator_name(), " ", why, ": ", show(schema));
  };
  if (schema.is_vararg() || schema.is_varret()) refuse("takes any number of arguments");
  if (forbidden(handle)) refuse("is not supported for the tensors of a dictionary");
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (!writes(argument)) continue;
    if (argument.is_out()) refuse("writes into another tensor");
    if (slots_[i].source != leaf_at) refuse("would write into an argument");
    in_place_ = true;
  }
  for (const c10::Argument& one : schema.returns()) {
    if (one.type()->kind() != c10::TypeKind::TensorType)
      refuse("returns something that is not a tensor");
    if (in_place_ != writes(one)) refuse("writes into a tensor and returns another one");
  }
  if (!in_place_ && schema.returns().empty()) refuse("returns no tensor");
  draws_ = handle.hasTag(at::Tag::nondeterministic_seeded);
  results_ = in_place_ ? 1 : schema.returns().size();
  const auto mode = schema.argumentIndexWithName("rounding_mode");
  const bool rounds = mode && !slots_[static_cast<std::size_t>(*mode)].value.isNone();
  division_ = math::division_of(schema.name(), rounds);
  copy_numbers(schema);
  handle_ = std::make_shared<const c10::OperatorHandle>(handle);
}

// Integers may be positions, which libtorch checks before it reads them again: another thread may write into
// the caller's. A result that is a view keeps the caller's memory.
void Operator::copy_numbers(const c10::FunctionSchema& schema) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    c10::IValue& value = slots_[i].value;
    if (slots_[i].source != constant || !value.isTensor()) continue;
    if (schema.arguments()[i].alias_info() != nullptr) continue;
    const at::Tensor given = value.toTensor();
    const bool numbers = given.defined() && given.is_cpu() && given.layout() == c10::kStrided &&
                         c10::isIntegralType(given.scalar_type(), /*includeBool=*/true);
    if (numbers && !given.unsafeGetTensorImpl()->is_wrapped_number()) value = given.clone();
  }
}

}  // namespace td
