// core/pickle/pickle_calls.h: handles instructions that call something. Nothing is called: two
// implementations choose a placeholder for the result.
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

  // Pushes a class or function by its name.
  virtual void global(const std::string& module, const std::string& name) = 0;
  // An integer of more than 64 bits.
  virtual Ref large_number() = 0;
  // Executes an instruction beyond plain values; false if it is unknown.
  virtual bool run(unsigned char code) = 0;

 protected:
  Object& at(Ref ref) { return state_.at(ref); }
  State& state_;
};

// Knows the few functions that describe a tensor, and storages outside the pickle.
std::unique_ptr<Calls> tensor_calls(State& state);

// Pushes a foreign object for each call.
std::unique_ptr<Calls> foreign_calls(State& state);

}  // namespace td::pickled
