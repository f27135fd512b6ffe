// core/datasets/minari_meta.h: what metadata.json of Minari tells, wherever the values are.
#pragma once

#include "core/datasets/source.h"
#include "core/datasets/space.h"
#include "core/formats/plain.h"

#include <string>
#include <utility>
#include <vector>

namespace td::datasets {

struct MinariMeta {
  // Code::format for spaces that are no JSON. `where` begins the messages.
  MinariMeta(Plain members, std::string where);

  Plain members;
  std::string where, version;
  Plain observations, actions;  // spaces; null without

  Space observation_space() const { return Space(known(observations)); }
  Space action_space() const { return Space(known(actions)); }
  // Code::format if the episodes have not as many steps as total_steps says.
  void require_total(const std::vector<std::int64_t>& lengths) const;

 private:
  static const Plain* known(const Plain& space) {
    return space.is(Plain::object) ? &space : nullptr;
  }
  Plain space(const char* name) const;
};

// Members that a set can be written with: without totals, which are counted, and without those that Minari could not read.
Plain mended_members(const Plain& members, const std::string& file, const MendFn& told);

// What Minari keeps of the rewards of an episode, by member; nothing without rewards.
std::vector<std::pair<const char*, double>> reward_sums(const TensorDict& rows);

inline OwnedKey below_next(const OwnedKey& key) {
  OwnedKey next{"next"};
  next.insert(next.end(), key.begin(), key.end());
  return next;
}

}  // namespace td::datasets
