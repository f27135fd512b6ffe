// core/datasets/made_space.h: a space of Gymnasium that holds the values of a recording.
#pragma once

#include "core/datasets/save.h"

#include <map>
#include <set>

namespace td::datasets {

class MadeSpace {
 public:
  // The rows of an entry; each episode adds its own.
  void add(const OwnedKey& key, const Rows& rows);
  // Adds the values of before, as a space tells that was made of them.
  void add_space(const OwnedKey& key, const Plain& space);
  // Pictures whose size is not known are lost.
  Plain take(Draft& draft) const;

 private:
  struct Part {
    c10::ScalarType dtype = c10::ScalarType::Undefined;
    Sizes shape;
    std::int64_t lowest = 0, highest = 0;   // of single integers
    std::size_t shortest = 0, longest = 0;  // of texts, in characters
    std::set<std::string> characters;
    bool any = false, is_file = false;
  };
  Plain below(Draft& draft, const OwnedKey& key) const;
  static Plain space_of(Draft& draft, const Part& part, const OwnedKey& key);

  std::map<OwnedKey, Part> parts_;
};

}  // namespace td::datasets
