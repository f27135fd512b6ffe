// One round: an operation in a world that shares memory, held against the same where nothing is shared.
#pragma once

#include "operation.h"

#include <string>

namespace attack {

struct Verdict {
  std::string operation;
  std::string failure;  // "" when all is well
  std::string told;     // the world and the call
  bool skipped = false;
};

// What is tried, and what is known to fail.
struct Rules {
  std::vector<std::string> only;     // names; empty for all
  std::vector<std::string> without;  // names that are left out
  bool tell = false;                 // say what was done, also of what passes
};

Verdict judge(Choices &choices, const Rules &rules);

void begin_process(const std::string &folder);

}  // namespace attack
