// The machine that reads a pickle: a stack, a memo, and a list of instructions that are allowed.
#include "td/format.h"
#include "td/pickled.h"

#include <cstring>
#include <unordered_map>

namespace td::pickled {

namespace {

// The functions that are known. Only these run, and all they do is to describe a tensor.
enum class Function : std::int64_t {
  rebuild_tensor,
  rebuild_parameter,
  ordered_dict,
  same,        // gives back its first argument: torch.Size, lists of libtorch, type tags
  storage,     // a type of storage, with its dtype
  dtype,       // a dtype as such
  attributes,  // a class of TorchScript, of which the attributes are read
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

struct StorageType {
  std::string_view name;
  c10::ScalarType dtype;
};
constexpr StorageType storages[] = {
    {"torch.ByteStorage", c10::ScalarType::Byte},
    {"torch.CharStorage", c10::ScalarType::Char},
    {"torch.ShortStorage", c10::ScalarType::Short},
    {"torch.IntStorage", c10::ScalarType::Int},
    {"torch.LongStorage", c10::ScalarType::Long},
    {"torch.HalfStorage", c10::ScalarType::Half},
    {"torch.FloatStorage", c10::ScalarType::Float},
    {"torch.DoubleStorage", c10::ScalarType::Double},
    {"torch.BoolStorage", c10::ScalarType::Bool},
    {"torch.BFloat16Storage", c10::ScalarType::BFloat16},
    {"torch.ComplexHalfStorage", c10::ScalarType::ComplexHalf},
    {"torch.ComplexFloatStorage", c10::ScalarType::ComplexFloat},
    {"torch.ComplexDoubleStorage", c10::ScalarType::ComplexDouble},
    {"torch.storage.UntypedStorage", c10::ScalarType::Byte},
    {"torch.storage._UntypedStorage", c10::ScalarType::Byte},
    {"torch.UntypedStorage", c10::ScalarType::Byte},
};

constexpr std::size_t max_dims = 64;   // as many as libtorch's loops take
constexpr std::size_t max_name = 256;  // of a function, or of a storage in its archive
constexpr std::size_t max_arguments = 16;

class Machine {
 public:
  Machine(std::string_view text, const std::string& where, std::size_t max_objects)
      : text_(text), where_(where), max_objects_(max_objects) {
    none_ = make(Kind::none);
    false_ = make(Kind::truth);
    true_ = make(Kind::truth);
    at(true_).number = 1;
  }

  Pickle run() {
    while (step()) {
    }
    result_.root = pop();
    if (!stack_.empty() || at_ != text_.size()) bad("something is left at the end");
    return std::move(result_);
  }

 private:
  [[noreturn]] void bad(const char* what) const {
    fail(Code::format, where_, ": ", what, ", at byte ", at_);
  }

  // One instruction; false at the last one.
  bool step() {
    const unsigned char code = byte();
    switch (code) {
      case 0x80:  // PROTO
        if (const unsigned version = byte(); version < 2 || version > 5) {
          fail(Code::unsupported, where_, ": protocol ", version, " of pickle cannot be read");
        }
        return true;
      case 0x95: take(8); return true;  // FRAME
      case '.': return false;
      case '(': marks_.push_back(stack_.size()); return true;
      case '0': pop(); return true;
      case '1': pop_mark(); return true;
      case '2': push(top()); return true;
      case 'N': push(none_); return true;
      case 0x88: push(true_); return true;
      case 0x89: push(false_); return true;
      case 'K': push_integer(static_cast<std::int64_t>(number(1))); return true;
      case 'M': push_integer(static_cast<std::int64_t>(number(2))); return true;
      case 'J': push_integer(static_cast<std::int32_t>(number(4))); return true;
      case 0x8a: push_long(number(1)); return true;
      case 0x8b: push_long(number(4)); return true;
      case 'G': push_real(); return true;
      case 'X': push_text(Kind::text, number(4)); return true;
      case 0x8c: push_text(Kind::text, number(1)); return true;
      case 0x8d: push_text(Kind::text, number(8)); return true;
      case 'T': push_text(Kind::text, number(4)); return true;
      case 'U': push_text(Kind::text, number(1)); return true;
      case 'B': push_text(Kind::bytes, number(4)); return true;
      case 'C': push_text(Kind::bytes, number(1)); return true;
      case 0x8e: push_text(Kind::bytes, number(8)); return true;
      case '}': push(make(Kind::dict)); return true;
      case ']':
      case ')': push(make(Kind::list)); return true;
      case 't':
      case 'l': push_list(pop_mark()); return true;
      case 0x85: push_list(pop_some(1)); return true;
      case 0x86: push_list(pop_some(2)); return true;
      case 0x87: push_list(pop_some(3)); return true;
      case 'd': {
        const Ref dict = make(Kind::dict);
        set_items(dict, pop_mark());
        push(dict);
        return true;
      }
      case 'a': append(pop_some(1)); return true;
      case 'e': append(pop_mark()); return true;
      case 's': {
        const std::vector<Ref> items = pop_some(2);
        set_items(top(), items);
        return true;
      }
      case 'u': {
        const std::vector<Ref> items = pop_mark();
        set_items(top(), items);
        return true;
      }
      case 'q': put(number(1)); return true;
      case 'r': put(number(4)); return true;
      case 0x94: put(memo_.size()); return true;  // MEMOIZE
      case 'h': get(number(1)); return true;
      case 'j': get(number(4)); return true;
      case 'c': {
        const std::string module(line());
        global(module, std::string(line()));
        return true;
      }
      case 0x93: {
        const Ref name = pop();
        const Ref module = pop();
        if (at(name).kind != Kind::text || at(module).kind != Kind::text) bad("a name is no text");
        global(at(module).text, at(name).text);
        return true;
      }
      case 'Q': persistent(); return true;
      case 'R': reduce(); return true;
      case 0x81: new_object(); return true;
      case 'b': build(); return true;
      default:
        --at_;
        fail(Code::unsupported, where_, ": the instruction ", int{code}, " of pickle at byte ", at_,
             " is not one that tensors and plain values need");
    }
  }

  std::string_view take(std::uint64_t bytes) {
    if (bytes > text_.size() - at_) bad("the pickle ends too early");
    const std::string_view piece = text_.substr(at_, static_cast<std::size_t>(bytes));
    at_ += piece.size();
    return piece;
  }
  unsigned char byte() { return static_cast<unsigned char>(take(1)[0]); }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(bytes).data(), bytes);
    return value;
  }
  std::string_view line() {
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) bad("the pickle ends too early");
    const std::string_view piece = text_.substr(at_, end - at_);
    at_ = end + 1;
    return piece;
  }

  Ref make(Kind kind) {
    if (result_.objects.size() >= max_objects_) {
      fail(Code::format, where_, ": more than ", max_objects_, " objects");
    }
    result_.objects.emplace_back();
    result_.objects.back().kind = kind;
    return static_cast<Ref>(result_.objects.size() - 1);
  }
  // What may grow faster than the text: by one instruction that speaks of something large.
  void count(std::size_t n) {
    counted_ += n;
    if (counted_ > max_objects_) fail(Code::format, where_, ": more than ", max_objects_, " items");
  }
  Object& at(Ref ref) { return result_.objects[ref]; }

  void push(Ref ref) { stack_.push_back(ref); }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  Ref top() const {
    if (stack_.size() <= floor()) bad("the stack is empty");
    return stack_.back();
  }
  Ref pop() {
    const Ref ref = top();
    stack_.pop_back();
    return ref;
  }
  std::vector<Ref> pop_some(std::size_t n) {
    if (stack_.size() - floor() < n) bad("the stack is empty");
    std::vector<Ref> items(stack_.end() - static_cast<std::ptrdiff_t>(n), stack_.end());
    stack_.resize(stack_.size() - n);
    return items;
  }
  std::vector<Ref> pop_mark() {
    if (marks_.empty()) bad("there is no mark");
    const std::size_t n = stack_.size() - marks_.back();
    std::vector<Ref> items = pop_some(n);
    marks_.pop_back();
    return items;
  }

  void push_integer(std::int64_t value) {
    const Ref ref = make(Kind::integer);
    at(ref).number = value;
    push(ref);
  }
  void push_long(std::uint64_t bytes) {
    const std::string_view digits = take(bytes);
    if (digits.size() > 8) {
      fail(Code::unsupported, where_, ": a number of more than 64 bits, at byte ", at_);
    }
    const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
    std::int64_t value = negative ? -1 : 0;
    std::memcpy(&value, digits.data(), digits.size());
    push_integer(value);
  }
  void push_real() {
    const std::string_view digits = take(8);
    std::uint64_t bits = 0;
    for (const char c : digits) bits = bits << 8 | static_cast<unsigned char>(c);
    const Ref ref = make(Kind::real);
    std::memcpy(&at(ref).real, &bits, sizeof bits);
    push(ref);
  }
  void push_text(Kind kind, std::uint64_t bytes) {
    const std::string_view text = take(bytes);
    if (kind == Kind::text && !is_utf8(text)) bad("a text is not UTF-8");
    const Ref ref = make(kind);
    at(ref).text = text;
    push(ref);
  }
  void push_list(std::vector<Ref> items) {
    const Ref ref = make(Kind::list);
    at(ref).items = std::move(items);
    push(ref);
  }

  void append(const std::vector<Ref>& items) {
    Object& list = at(top());
    if (list.kind != Kind::list) bad("something is appended to what is no list");
    list.items.insert(list.items.end(), items.begin(), items.end());
  }
  void set_items(Ref ref, const std::vector<Ref>& items) {
    Object& dict = at(ref);
    if (dict.kind != Kind::dict || items.size() % 2 != 0) bad("items are set in what is no dict");
    dict.items.insert(dict.items.end(), items.begin(), items.end());
  }

  void put(std::uint64_t slot) { memo_[slot] = top(); }
  void get(std::uint64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) bad("something is taken from the memo that is not there");
    push(found->second);
  }

  Ref function(Function which, c10::ScalarType dtype = c10::ScalarType::Undefined) {
    const Ref ref = make(Kind::function);
    at(ref).number = static_cast<std::int64_t>(which);
    at(ref).dtype = dtype;
    return ref;
  }
  bool is(Ref ref, Function which) {
    return at(ref).kind == Kind::function && at(ref).number == static_cast<std::int64_t>(which);
  }

  void global(const std::string& module, const std::string& name) {
    if (module.size() + name.size() > max_name) bad("the name of a function is too long");
    const std::string whole = module + "." + name;
    for (const Known& known : functions) {
      if (known.name == whole) return push(function(known.function));
    }
    for (const StorageType& type : storages) {
      if (type.name == whole) return push(function(Function::storage, type.dtype));
    }
    if (module == "__torch__" || module.compare(0, 10, "__torch__.") == 0) {
      return push(function(Function::attributes));
    }
    if (module == "torch") {
      try {
        return push(function(Function::dtype, format::parse_dtype(whole, where_)));
      } catch (const Error& error) {
        if (error.code() == Code::dtype) throw;
      }
    }
    fail(Code::unsupported, where_, ": ", format::quote(whole),
         " is neither a plain value nor what makes a tensor, and is not run");
  }

  // ('storage', torch.FloatStorage, '0', 'cpu', 12)
  void persistent() {
    const Ref id = pop();
    const std::vector<Ref>& items = at(id).items;
    if (at(id).kind != Kind::list || items.size() != 5 || at(items[0]).text != "storage" ||
        !is(items[1], Function::storage) || at(items[2]).kind != Kind::text ||
        at(items[2]).text.size() > max_name || at(items[4]).kind != Kind::integer ||
        at(items[4]).number < 0) {
      bad("something outside the pickle is no storage");
    }
    Object storage;
    storage.kind = Kind::storage;
    storage.dtype = at(items[1]).dtype;
    storage.text = at(items[2]).text;
    storage.number = at(items[4]).number;
    const Ref ref = make(Kind::storage);  // items may have moved
    at(ref) = std::move(storage);
    push(ref);
  }

  Sizes sizes(Ref ref) {
    if (at(ref).kind != Kind::list || at(ref).items.size() > max_dims) bad("sizes are no list");
    Sizes result;
    for (const Ref item : at(ref).items) {
      if (at(item).kind != Kind::integer || at(item).number < 0)
        bad("a size is no number from 0 on");
      result.push_back(at(item).number);
    }
    return result;
  }

  // (storage, offset, size, stride, requires_grad, hooks, ...); of version 3 with a dtype.
  Ref tensor(const std::vector<Ref>& args) {
    if (args.size() < 4 || at(args[0]).kind != Kind::storage || at(args[1]).kind != Kind::integer ||
        at(args[1]).number < 0) {
      bad("a tensor is not made of a storage");
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
    if (place.sizes.size() != place.strides.size()) bad("a tensor has other strides than sizes");
    count(2 * place.sizes.size());
    const Ref ref = make(Kind::tensor);
    at(ref).number = static_cast<std::int64_t>(result_.tensors.size());
    result_.tensors.push_back(std::move(place));
    return ref;
  }

  void reduce() {
    const Ref args = pop();
    const Ref callee = pop();
    if (at(args).kind != Kind::list || at(callee).kind != Kind::function) {
      bad("something is called that is no function");
    }
    if (at(args).items.size() > max_arguments) bad("a function has too many arguments");
    const std::vector<Ref> items = at(args).items;
    switch (static_cast<Function>(at(callee).number)) {
      case Function::rebuild_tensor: return push(tensor(items));
      case Function::rebuild_parameter:
        if (items.empty() || at(items[0]).kind != Kind::tensor) bad("a parameter is no tensor");
        return push(items[0]);
      case Function::ordered_dict: return push(ordered_dict(items));
      case Function::same:
        if (items.empty()) return push(make(Kind::list));
        return push(items[0]);
      default: bad("something is called that is no function");
    }
  }

  // OrderedDict(), or OrderedDict([[key, value], ...])
  Ref ordered_dict(const std::vector<Ref>& args) {
    const Ref dict = make(Kind::dict);
    if (args.size() > 1 || (args.size() == 1 && at(args[0]).kind != Kind::list)) {
      bad("a dict is made of something else");
    }
    if (args.empty()) return dict;
    for (const Ref pair : at(args[0]).items) {
      if (at(pair).kind != Kind::list || at(pair).items.size() != 2) bad("a dict lacks a value");
      count(2);
      set_items(dict, at(pair).items);
    }
    return dict;
  }

  void new_object() {
    const Ref args = pop();
    const Ref callee = pop();
    if (at(args).kind != Kind::list || !at(args).items.empty()) bad("an object has arguments");
    if (!is(callee, Function::attributes) && !is(callee, Function::ordered_dict)) {
      bad("an object is made of what is no class");
    }
    const Ref ref = make(Kind::dict);
    at(ref).object = is(callee, Function::attributes);
    push(ref);
  }

  // Attributes: those of a TorchScript object are its content. Those of an OrderedDict or a tensor say
  // nothing about values.
  void build() {
    const Ref state = pop();
    Object& object = at(top());
    if (object.kind == Kind::dict && object.object && at(state).kind == Kind::dict) {
      if (top() == state) bad("an object is its own attribute");
      count(at(state).items.size());
      object.items.insert(object.items.end(), at(state).items.begin(), at(state).items.end());
    } else if (object.kind != Kind::dict && object.kind != Kind::tensor) {
      bad("attributes are set in what has none");
    }
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t max_objects_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  Pickle result_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Ref> memo_;
  Ref none_ = 0;
  Ref false_ = 0;
  Ref true_ = 0;
};

}  // namespace

Pickle read(std::string_view text, const std::string& where, std::size_t max_objects) {
  return Machine(text, where, max_objects).run();
}

}  // namespace td::pickled
