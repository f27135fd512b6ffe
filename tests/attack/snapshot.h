// All that a dictionary or a tensor holds, to be compared.
#pragma once

#include "tensordict/td.h"

#include <string>
#include <vector>

namespace attack {

struct Block {
  td_dtype dtype;
  std::string bytes;
};

// Structure as text; values apart from it, so that some may differ a little.
struct Snapshot {
  std::string form;
  std::vector<Block> values;

  void add(const td_tensordict *td);
  void add(const td_tensor *tensor);
  void add(const td_keys *keys);
  void line(const std::string &text) { form += text + "\n"; }
};

// "", or where two differ. `close`: numbers with a point may differ by little.
std::string difference(const Snapshot &got, const Snapshot &want, bool close);

std::string printed(const td_tensordict *td);
std::string printed(const td_tensor *tensor);

}  // namespace attack
