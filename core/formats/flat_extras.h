// core/formats/flat_extras.h: what is written beside a list of tensors with joined names, so that a dictionary can be
// made of it again.
#pragma once

#include "core/base/owned_path.h"
#include "core/base/sizes.h"

#include <string>
#include <string_view>
#include <vector>

namespace td {

// A joined name as a path; with an empty separator it is one name.
OwnedPath split_name(std::string_view name, std::string_view separator);

// What the names and the tensors alone do not say. Kept as JSON text.
struct FlatExtras {
  struct Dict {  // a dictionary that is not as the one above it suggests
    OwnedPath path;
    Shape batch;
    Names names;
  };
  struct NonTensor {  // a non-tensor value
    OwnedPath path;
    std::string json;
    bool each = false;  // one for each element of the batch
  };
  struct Exact {  // a name that would be split into another path
    std::string name;
    OwnedPath path;
  };
  std::vector<Dict> dicts;  // the first is the root
  std::vector<NonTensor> data;
  std::vector<Exact> exact;

  std::string text() const;
  // Throws Code::format; `where` begins the message.
  static FlatExtras parse(const std::string& text, const std::string& where);
};

}  // namespace td
