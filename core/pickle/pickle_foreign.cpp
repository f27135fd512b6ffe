// Plain values of a pickle with any content: objects that need Python become foreign.
#include "core/pickle/pickle_calls.h"

namespace td::pickled {

namespace {

class ForeignCalls final : public Calls {
 public:
  using Calls::Calls;

  void global(const std::string&, const std::string&) override { push(); }
  Ref large_number() override { return state_.make(Kind::foreign); }

  bool run(unsigned char code) override {
    switch (code) {
      case 'R':                         // REDUCE: a function and its arguments
      case 0x81: drop(2); return true;  // NEWOBJ: a class and its arguments
      case 0x92: drop(3); return true;  // NEWOBJ_EX: a class, arguments, keyword arguments
      case 'b':                         // BUILD: the state of the object below
        state_.pop();
        if (at(state_.top()).kind != Kind::foreign)
          state_.bad("attributes are set on a value without attributes");
        return true;
      case 'Q': drop(1); return true;  // BINPERSID
      case 'P':                        // PERSID
        state_.line();
        push();
        return true;
      case 0x82: return extension(1);  // EXT1, EXT2, EXT4
      case 0x83: return extension(2);
      case 0x84: return extension(4);
      case 0x8f: push(); return true;  // EMPTY_SET
      case 0x90: {                     // ADDITEMS
        const std::vector<Ref> items = state_.pop_mark();
        state_.append(items);
        return true;
      }
      case 0x91:  // FROZENSET
        state_.pop_mark();
        push();
        return true;
      case 0x96:  // BYTEARRAY8
        state_.take(state_.number(8));
        push();
        return true;
      case 0x97: push(); return true;  // NEXT_BUFFER
      case 0x98: return true;          // READONLY_BUFFER
      default: return false;
    }
  }

 private:
  void push() { state_.push(state_.make(Kind::foreign)); }
  void drop(std::size_t n) {
    state_.pop_some(n);
    push();
  }
  bool extension(std::size_t bytes) {
    state_.take(bytes);
    push();
    return true;
  }
};

}  // namespace

std::unique_ptr<Calls> foreign_calls(State& state) { return std::make_unique<ForeignCalls>(state); }

}  // namespace td::pickled
