// core/pickle/pickle_calls.h: what becomes of the instructions that call something. Nothing is ever called: two ways
// say what stands in the place of a result.
#pragma once

#include "core/pickle/pickle_state.h"

#include <memory>

namespace td::pickled {

class Calls {
 public:
  explicit Calls(State& state) : state_(state) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  virtual ~Calls() = default;

  // A class or function, by its name: pushed.
  virtual void global(const std::string& module, const std::string& name) = 0;
  // A number of more than 64 bits.
  virtual Ref large_number() = 0;
  // An instruction beyond those of plain values; false for one that is not known.
  virtual bool run(unsigned char code) = 0;

 protected:
  Object& at(Ref ref) { return state_.at(ref); }
  State& state_;
};

// The few functions that describe a tensor, and storages outside the pickle.
std::unique_ptr<Calls> tensor_calls(State& state);

// Whatever is made by a call is foreign: its place is kept, nothing more.
std::unique_ptr<Calls> foreign_calls(State& state);

}  // namespace td::pickled
