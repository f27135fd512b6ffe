// Interprets a pickle with a list of allowed instructions.
#include "core/pickle/pickle_calls.h"

#include <cstring>

namespace td::pickled {

namespace {

class Machine {
 public:
  Machine(State& state, Calls& calls) : state_(state), calls_(calls) {}

  Pickle run() {
    while (step()) {
    }
    return state_.finish();
  }

 private:
  // Executes one instruction; false at the last one.
  bool step() {
    const unsigned char code = state_.byte();
    switch (code) {
      case 0x80: check_version(state_.byte()); return true;  // PROTO
      case 0x95: state_.take(8); return true;                // FRAME
      case '.': return false;
      case '(': state_.mark(); return true;
      case '0': state_.pop(); return true;
      case '1': state_.pop_mark(); return true;
      case '2': state_.push(state_.top()); return true;
      case 'N': state_.push(state_.none()); return true;
      case 0x88: state_.push(state_.truth(true)); return true;
      case 0x89: state_.push(state_.truth(false)); return true;
      case 'K': push_integer(static_cast<std::int64_t>(state_.number(1))); return true;
      case 'M': push_integer(static_cast<std::int64_t>(state_.number(2))); return true;
      case 'J': push_integer(static_cast<std::int32_t>(state_.number(4))); return true;
      case 0x8a: push_long(state_.number(1)); return true;
      case 0x8b: push_long(state_.number(4)); return true;
      case 'G': push_real(); return true;
      case 'X': push_text(Kind::text, 4); return true;
      case 0x8c: push_text(Kind::text, 1); return true;
      case 0x8d: push_text(Kind::text, 8); return true;
      case 'T': push_text(Kind::text, 4); return true;
      case 'U': push_text(Kind::text, 1); return true;
      case 'B': push_text(Kind::bytes, 4); return true;
      case 'C': push_text(Kind::bytes, 1); return true;
      case 0x8e: push_text(Kind::bytes, 8); return true;
      case '}': state_.push(state_.make(Kind::dict)); return true;
      case ']':
      case ')': state_.push(state_.make(Kind::list)); return true;
      case 't':
      case 'l': push_list(state_.pop_mark()); return true;
      case 0x85: push_list(state_.pop_some(1)); return true;
      case 0x86: push_list(state_.pop_some(2)); return true;
      case 0x87: push_list(state_.pop_some(3)); return true;
      case 'd': {
        const Ref dict = state_.make(Kind::dict);
        state_.set_items(dict, state_.pop_mark());
        state_.push(dict);
        return true;
      }
      case 'a': state_.append(state_.pop_some(1)); return true;
      case 'e': state_.append(state_.pop_mark()); return true;
      case 's': set_items(state_.pop_some(2)); return true;
      case 'u': set_items(state_.pop_mark()); return true;
      case 'q': state_.put(state_.number(1)); return true;
      case 'r': state_.put(state_.number(4)); return true;
      case 0x94: state_.memoize(); return true;
      case 'h': state_.get(state_.number(1)); return true;
      case 'j': state_.get(state_.number(4)); return true;
      case 'c': {
        const std::string module(state_.line());
        calls_.global(module, std::string(state_.line()));
        return true;
      }
      case 0x93: stack_global(); return true;
      default:
        if (calls_.run(code)) return true;
        fail(Code::unsupported, state_.where(), ": the instruction ", int{code},
             " of pickle at byte ", state_.position() - 1,
             " is not one that tensors and plain values need");
    }
  }

  void check_version(unsigned version) const {
    if (version >= 2 && version <= 5) return;
    fail(Code::unsupported, state_.where(), ": protocol ", version, " of pickle cannot be read");
  }

  void push_integer(std::int64_t value) { state_.push(state_.integer(value)); }

  void push_long(std::uint64_t bytes) {
    const std::string_view digits = state_.take(bytes);
    if (digits.size() > 8) return state_.push(calls_.large_number());
    const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
    std::int64_t value = negative ? -1 : 0;
    std::memcpy(&value, digits.data(), digits.size());
    push_integer(value);
  }

  void push_real() {
    std::uint64_t bits = 0;
    for (const char c : state_.take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
    double value = 0;
    std::memcpy(&value, &bits, sizeof bits);
    state_.push(state_.real(value));
  }

  void push_text(Kind kind, std::size_t bytes_of_length) {
    state_.push(state_.text(kind, state_.take(state_.number(bytes_of_length))));
  }

  void push_list(std::vector<Ref> items) { state_.push(state_.list(std::move(items))); }

  void set_items(const std::vector<Ref>& items) { state_.set_items(state_.top(), items); }

  void stack_global() {
    const Ref name = state_.pop();
    const Ref module = state_.pop();
    if (state_.at(name).kind != Kind::text || state_.at(module).kind != Kind::text) {
      state_.bad("a name is not a string");
    }
    const std::string text = state_.at(module).text;
    calls_.global(text, std::string(state_.at(name).text));
  }

  State& state_;
  Calls& calls_;
};

}  // namespace

Pickle read(std::string_view text, const std::string& where, std::size_t max_objects) {
  State state(text, where, max_objects);
  return Machine(state, *tensor_calls(state)).run();
}

Pickle read_foreign(std::string_view text, const std::string& where, std::size_t max_objects) {
  State state(text, where, max_objects);
  return Machine(state, *foreign_calls(state)).run();
}

}  // namespace td::pickled
