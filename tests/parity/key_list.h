// Lists of keys, from the JSON of a case to C and back.
#ifndef PARITY_KEY_LIST_H
#define PARITY_KEY_LIST_H

#include "values.h"

namespace parity {

// A list of keys as C has it.
class KeyList {
 public:
  explicit KeyList(const Json &keys) : paths_(keys.get<std::vector<Path>>()) {
    for (const auto &path : paths_) {
      std::vector<const char *> names;
      for (const std::string &name : path) names.push_back(name.c_str());
      names_.push_back(std::move(names));
      keys_.push_back({names_.back().data(), path.size()});
    }
  }
  const td_key *data() const { return keys_.data(); }
  size_t size() const { return keys_.size(); }

 private:
  std::vector<Path> paths_;
  std::vector<std::vector<const char *>> names_;
  std::vector<td_key> keys_;
};

// The paths of a dictionary, in order.
inline Json paths_of(const td_tensordict *td, const td_keys_options &options) {
  const Keys keys = made<Keys>([&](auto result) { return td_keys_of(td, &options, result); });
  Json paths = Json::array();
  for (size_t i = 0; i < td_keys_len(keys.get()); ++i) {
    const char *const *path = nullptr;
    size_t path_len = 0;
    check(td_keys_at(keys.get(), i, &path, &path_len));
    paths.push_back(Path(path, path + path_len));
  }
  return paths;
}

}  // namespace parity

#endif
