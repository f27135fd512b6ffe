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
  attributes,    // a class of TorchScript, whose attributes are read
  make,          // tensordict's: an object of a class and its state
  consolidated,  // tensordict's: all tensors in one buffer
  encode,        // bytes of a text
  other,         // a class, known or not, whose objects have a state and nothing else
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
    {"torch.device", Function::same},
    {"__builtin__.set", Function::same},
    {"builtins.set", Function::same},
    {"collections.deque", Function::same},
    {"_codecs.encode", Function::encode},
    {made::make, Function::make},
    {made::consolidated, Function::consolidated},
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
      if (known.name == whole) return push_named(known.function, whole);
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
    push_named(Function::other, whole);
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
  void push_named(Function which, const std::string& name) {
    const Ref ref = function(which);
    at(ref).text = name;
    state_.push(ref);
  }
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
    const auto class_of_first = [&] {
      if (items.size() != 2 || !is(items[0], Function::other))
        state_.bad("an object is made of no class");
      return items[0];
    };
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
      case Function::make: return state_.push(made_object(class_of_first(), {items[1]}));
      case Function::consolidated: return state_.push(made_object(callee, items));
      case Function::encode: return state_.push(encoded(items));
      case Function::other:
        if (at(callee).text == "__builtin__.getattr" || at(callee).text == "builtins.getattr") {
          fail_unknown(at(class_of_first()).text, state_.where());
        }
        fail_unknown(at(callee).text, state_.where());
      default: state_.bad("something is called that is not a function");
    }
  }

  Ref made_object(Ref of_class, std::vector<Ref> state) {
    const Ref ref = state_.make(Kind::made);
    at(ref).number = of_class;
    at(ref).items = std::move(state);
    return ref;
  }

  // encode("characters", "latin1"): protocol 2 has no bytes.
  Ref encoded(const std::vector<Ref>& args) {
    const bool sound = args.size() == 2 && at(args[0]).kind == Kind::text &&
                       at(args[1]).kind == Kind::text && at(args[1]).text == "latin1";
    if (!sound) state_.bad("bytes are made of something else");
    std::string bytes;
    const std::string& text = at(args[0]).text;  // UTF-8
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto first = static_cast<unsigned char>(text[i]);
      if (first > 0xc3) state_.bad("bytes are made of something else");
      if (first < 0x80) {
        bytes += text[i];
      } else {
        bytes += static_cast<char>((first & 3) << 6 | (text[++i] & 0x3f));
      }
    }
    return state_.text(Kind::bytes, bytes);
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
    if (is(callee, Function::other) && at(callee).text == made::locked_schema) {
      return state_.push(state_.none());  // names that are there twice
    }
    if (at(args).kind != Kind::list || !at(args).items.empty()) {
      if (is(callee, Function::other)) fail_unknown(at(callee).text, state_.where());
      state_.bad("an object has arguments");
    }
    if (is(callee, Function::other)) return state_.push(made_object(callee, {}));
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
    if (object.kind == Kind::made && object.items.empty()) {
      object.items.push_back(state);
    } else if (object.kind == Kind::dict && object.object && at(state).kind == Kind::dict) {
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
