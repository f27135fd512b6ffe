// core/formats/flat_extras.h: data stored beside a flat list of tensors, to rebuild the dictionary.
#pragma once

#include "core/base/owned_path.h"
#include "core/base/sizes.h"
#include "core/formats/plain.h"

#include <string>
#include <string_view>
#include <vector>

namespace td {

// Splits a joined name; an empty separator keeps it whole.
OwnedPath split_name(std::string_view name, std::string_view separator);

// What names and tensors do not show. Stored as JSON text.
struct FlatExtras {
  struct Dict {  // a dictionary whose attributes do not follow from its parent
    OwnedPath path;
    Shape batch;
    Names names;
  };
  struct NonTensor {
    OwnedPath path;
    Plain value;
    bool each = false;  // one for each element of the batch
  };
  struct Exact {  // a name whose split would give another path
    std::string name;
    OwnedPath path;
  };
  std::vector<Dict> dicts;  // the first is the root
  std::vector<NonTensor> data;
  std::vector<Exact> exact;

  std::string text() const;
  // Throws Code::format; `where` begins the message.
  static FlatExtras parse(const std::string& text, const std::string& where);
  static FlatExtras of(const Plain& tree, const std::string& where);
};

}  // namespace td
