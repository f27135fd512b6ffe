// core/inspect/state_metadata.h: what a state says about its dictionaries. Internal.
#pragma once

#include "core/tree/tensordict.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace td {

class Plain;

// The batch sizes and devices of a state's dictionaries, in all forms that were ever written.
class StateMetadata {
 public:
  struct State {
    Sizes batch;
    std::string device;  // may be empty
  };

  StateMetadata() = default;                        // knows nothing
  explicit StateMetadata(const TensorDict& state);  // Code::format if it is invalid

  void enter(std::string_view name);
  void leave();
  // Of the open dictionary; nullptr if it is not known.
  const State* find() const;

 private:
  void read_list(const Plain& dicts);

  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  std::vector<State> states_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> below_;  // of states_
  std::vector<std::size_t> open_{nowhere};
  // Versions before 0.3.0 wrote them by joined name.
  std::map<std::string, State, std::less<>> by_name_;
  std::string name_;
  std::vector<std::size_t> lengths_;  // of the names above
};

}  // namespace td
