// The functions of a pickle that make tensors of storages.
#include "core/pickle/pickle_calls.h"

#include "core/formats/format.h"
#include "core/tensor/dtype.h"
#include "core/tensor/sizes.h"

namespace td::pickled {

namespace {

// The known functions. They only describe tensors.
enum class Function : std::int64_t {
  rebuild_tensor,
  rebuild_parameter,
  ordered_dict,
  same,     // returns its first argument: torch.Size, lists of libtorch, type tags
  storage,  // a storage type with its dtype
  dtype,
  attributes,  // a class of TorchScript, whose attributes are read
};

struct Known {
  std::string_view name;
  Function function;
};
constexpr Known functions[] = {
    {"torch._utils._rebuild_tensor", Function::rebuild_tensor},
    {"torch._utils._rebuild_tensor_v2", Function::rebuild_tensor},
    {"torch._utils._rebuild_tensor_v3", Function::rebuild_tensor},
    {"torch._utils._rebuild_parameter", Function::rebuild_parameter},
    {"collections.OrderedDict", Function::ordered_dict},
    {"torch.Size", Function::same},
    {"torch.jit._pickle.build_intlist", Function::same},
    {"torch.jit._pickle.build_doublelist", Function::same},
    {"torch.jit._pickle.build_boollist", Function::same},
    {"torch.jit._pickle.build_tensorlist", Function::same},
    {"torch.jit._pickle.restore_type_tag", Function::same},
};

// Storages without a dtype of their own.
constexpr std::string_view untyped[] = {"torch.storage.UntypedStorage",
                                        "torch.storage._UntypedStorage", "torch.UntypedStorage"};

constexpr std::size_t max_name = 256;  // the longest name of a function or a storage
constexpr std::size_t max_arguments = 16;

class TensorCalls final : public Calls {
 public:
  using Calls::Calls;

  void global(const std::string& module, const std::string& name) override {
    if (module.size() + name.size() > max_name) state_.bad("the name of a function is too long");
    const std::string whole = module + "." + name;
    for (const Known& known : functions) {
      if (known.name == whole) return state_.push(function(known.function));
    }
    if (const DTypeRow* row = module == "torch" ? find_dtype(&DTypeRow::storage, name) : nullptr)
      return state_.push(function(Function::storage, scalar_type(row->dtype)));
    for (const std::string_view one : untyped) {
      if (one == whole) return state_.push(function(Function::storage, c10::ScalarType::Byte));
    }
    if (module == "__torch__" || module.compare(0, 10, "__torch__.") == 0) {
      return state_.push(function(Function::attributes));
    }
    if (module == "torch") {
      try {
        return state_.push(function(Function::dtype, parse_dtype(whole, state_.where())));
      } catch (const Error& error) {
        if (error.code() == Code::dtype) throw;
      }
    }
    fail(Code::unsupported, state_.where(), ": ", quote(whole),
         " is neither a plain value nor what makes a tensor, and is not run");
  }

  Ref large_number() override {
    fail(Code::unsupported, state_.where(), ": a number of more than 64 bits, at byte ",
         state_.position());
  }

  bool run(unsigned char code) override {
    switch (code) {
      case 'Q': persistent(); return true;
      case 'R': reduce(); return true;
      case 0x81: new_object(); return true;
      case 'b': build(); return true;
      default: return false;
    }
  }

 private:
  Ref function(Function which, c10::ScalarType dtype = c10::ScalarType::Undefined) {
    const Ref ref = state_.make(Kind::function);
    at(ref).number = static_cast<std::int64_t>(which);
    at(ref).dtype = dtype;
    return ref;
  }
  bool is(Ref ref, Function which) {
    return at(ref).kind == Kind::function && at(ref).number == static_cast<std::int64_t>(which);
  }

  // ('storage', torch.FloatStorage, '0', 'cpu', 12)
  void persistent() {
    const Ref id = state_.pop();
    const std::vector<Ref>& items = at(id).items;
    if (at(id).kind != Kind::list || items.size() != 5 || at(items[0]).text != "storage" ||
        !is(items[1], Function::storage) || at(items[2]).kind != Kind::text ||
        at(items[2]).text.size() > max_name || at(items[4]).kind != Kind::integer ||
        at(items[4]).number < 0) {
      state_.bad("a persistent id is not a storage");
    }
    Object storage;
    storage.kind = Kind::storage;
    storage.dtype = at(items[1]).dtype;
    storage.text = at(items[2]).text;
    storage.number = at(items[4]).number;
    const Ref ref = state_.make(Kind::storage);  // make() may move `items`
    at(ref) = std::move(storage);
    state_.push(ref);
  }

  Sizes sizes(Ref ref) {
    if (at(ref).kind != Kind::list || at(ref).items.size() > max_dims)
      state_.bad("sizes are not a list");
    Sizes result;
    for (const Ref item : at(ref).items) {
      if (at(item).kind != Kind::integer || at(item).number < 0)
        state_.bad("a size is not a number of at least 0");
      result.push_back(at(item).number);
    }
    return result;
  }

  // (storage, offset, size, stride, requires_grad, hooks, ...); version 3 adds a dtype.
  Ref tensor(const std::vector<Ref>& args) {
    if (args.size() < 4 || at(args[0]).kind != Kind::storage || at(args[1]).kind != Kind::integer ||
        at(args[1]).number < 0) {
      state_.bad("a tensor is not made of a storage");
    }
    TensorPlace place;
    place.storage = args[0];
    place.dtype = at(args[0]).dtype;
    for (const Ref arg : args) {
      if (is(arg, Function::dtype)) place.dtype = at(arg).dtype;
    }
    place.offset = at(args[1]).number;
    place.sizes = sizes(args[2]);
    place.strides = sizes(args[3]);
    if (place.sizes.size() != place.strides.size())
      state_.bad("a tensor has other strides than sizes");
    state_.count(2 * place.sizes.size());
    return state_.tensor(std::move(place));
  }

  void reduce() {
    const Ref args = state_.pop();
    const Ref callee = state_.pop();
    if (at(args).kind != Kind::list || at(callee).kind != Kind::function) {
      state_.bad("something is called that is not a function");
    }
    if (at(args).items.size() > max_arguments) state_.bad("a function has too many arguments");
    const std::vector<Ref> items = at(args).items;
    switch (static_cast<Function>(at(callee).number)) {
      case Function::rebuild_tensor: return state_.push(tensor(items));
      case Function::rebuild_parameter:
        if (items.empty() || at(items[0]).kind != Kind::tensor)
          state_.bad("a parameter is not a tensor");
        return state_.push(items[0]);
      case Function::ordered_dict: return state_.push(ordered_dict(items));
      case Function::same:
        if (items.empty()) return state_.push(state_.make(Kind::list));
        return state_.push(items[0]);
      default: state_.bad("something is called that is not a function");
    }
  }

  // OrderedDict(), or OrderedDict([[key, value], ...])
  Ref ordered_dict(const std::vector<Ref>& args) {
    const Ref dict = state_.make(Kind::dict);
    if (args.size() > 1 || (args.size() == 1 && at(args[0]).kind != Kind::list)) {
      state_.bad("a dict is made of something else");
    }
    if (args.empty()) return dict;
    for (const Ref pair : at(args[0]).items) {
      if (at(pair).kind != Kind::list || at(pair).items.size() != 2)
        state_.bad("a dict lacks a value");
      state_.count(2);
      state_.set_items(dict, at(pair).items);
    }
    return dict;
  }

  void new_object() {
    const Ref args = state_.pop();
    const Ref callee = state_.pop();
    if (at(args).kind != Kind::list || !at(args).items.empty())
      state_.bad("an object has arguments");
    if (!is(callee, Function::attributes) && !is(callee, Function::ordered_dict)) {
      state_.bad("an object is made of something that is not a class");
    }
    const Ref ref = state_.make(Kind::dict);
    at(ref).object = is(callee, Function::attributes);
    state_.push(ref);
  }

  // The state of a TorchScript object is its content. Attributes of an OrderedDict or a tensor do not affect
  // values.
  void build() {
    const Ref state = state_.pop();
    Object& object = at(state_.top());
    if (object.kind == Kind::dict && object.object && at(state).kind == Kind::dict) {
      if (state_.top() == state) state_.bad("an object is its own attribute");
      state_.count(at(state).items.size());
      object.items.insert(object.items.end(), at(state).items.begin(), at(state).items.end());
    } else if (object.kind != Kind::dict && object.kind != Kind::tensor) {
      state_.bad("attributes are set on a value without attributes");
    }
  }
};

}  // namespace

std::unique_ptr<Calls> tensor_calls(State& state) { return std::make_unique<TensorCalls>(state); }

}  // namespace td::pickled
