// All that a dictionary or a tensor holds, to be compared.
#pragma once

#include "tensordict/td.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attack {

struct Block {
  td_dtype dtype;
  std::string bytes;
};

// `as_read`: the entries alone, which a lazy stack and a dense dictionary can have in common. `entries`: those of the
// elements of lazy stacks too, which others lack.
enum class Form { whole, as_read, entries };

// Structure as text; values apart from it, so that some may differ a little.
struct Snapshot {
  explicit Snapshot(Form of = Form::whole) : what(of) {}
  Form what;
  std::string form;
  std::vector<Block> values;

  void add(const td_tensordict *td);
  void add(const td_tensor *tensor);
  void add(const td_keys *keys);
  void line(const std::string &text) { form += text + "\n"; }

 private:
  void add_head(const td_tensordict *td);  // all but the entries
  void add_elements(const td_tensordict *td);
};

// "", or where two differ. `close`: numbers with a point may differ by little.
std::string difference(const Snapshot &got, const Snapshot &want, bool close);

// The i-th element along a batch dimension.
td_status element(const td_tensordict *td, std::int64_t dim, std::size_t i, td_tensordict **result);

std::string printed(const td_tensordict *td);
std::string printed(const td_tensor *tensor);

}  // namespace attack
