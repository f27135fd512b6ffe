// Data sets of robomimic and D4RL, each one HDF5 file; and bags, which have no metadata to contradict.
#include "core/base/key.h"
#include "core/base/quote.h"
#include "core/datasets/group_source.h"
#include "core/datasets/verify_members.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <set>

namespace td::datasets {

namespace {

class RobomimicChecker final : public Checker {
 public:
  using Checker::Checker;

  void look() override {
    const auto file = hdf5::GroupFile::open(problems_.path(), 0, 0);
    raw_ = file->attribute("/data", "env").has_value();
    const Plain about = file->attributes("/data");
    if (!raw_) check_environment(about);
    std::int64_t steps = 0;
    std::set<std::string> names;
    for (const std::string& name : file->names("/data")) {
      names.insert(name);
      const std::string place = "/data/" + name;
      const std::optional<Plain> told = file->attribute(place, "num_samples");
      if (told && told->is(Plain::integer)) steps += told->integral();
      if (!told && !raw_)
        problems_.add({}, quote(place), " has no attribute \"num_samples\", which robomimic needs");
    }
    const Plain* total =
        raw_ ? nullptr : member(problems_, "", about, "total", Plain::integer, false);
    if (total != nullptr && total->integral() != steps) {
      problems_.add({}, "\"total\" of \"/data\" is ", total->integral(),
                    ", and the demonstrations have ", steps, " steps");
    }
    check_masks(*file, names);
  }

  void episode(const Source&, std::int64_t number, const TensorDict& rows) override {
    const Spot at{"", number};
    if (rows.kind_of({"action"}) == EntryKind::none) {
      problems_.add(at, "it has no actions");
    } else if (const at::Tensor* actions = raw_ ? nullptr : rows.stored({"action"})) {
      const at::Tensor all = actions->to(at::kDouble), inside = all.ge(-1).logical_and(all.le(1));
      problems_.add_rows(at, inside.logical_not().reshape({all.size(0), -1}).any(1), 0,
                         "the action is not between -1 and 1");
    }
    if (rows.kind_of({"observation"}) == EntryKind::dict)
      note_groups(rows.get_dict({"observation"}));
    check_observations(at, rows);
    const at::Tensor done = flags_of(rows, {"next", "done"});
    if (done.defined() && done.size(0) > 1) {
      const at::Tensor before = done.narrow(0, 0, done.size(0) - 1);
      if (before.any().item<bool>()) note_done(at, before);
    }
  }

 private:
  void check_environment(const Plain& about) const {
    const Plain* text = member(problems_, "", about, "env_args", Plain::text);
    if (text == nullptr) return;
    const Plain args = inner_json(problems_, "", *text, "env_args");
    for (const char* name : {"env_name", "type", "env_kwargs"}) {
      if (args.is(Plain::object) && args.find(name) == nullptr)
        problems_.add({}, "env_args has no ", quote(name));
    }
  }

  void check_masks(const hdf5::GroupFile& file, const std::set<std::string>& names) const {
    if (!file.is_group("/mask")) return;
    for (const hdf5::Leaf& leaf : file.leaves("/mask")) {
      if (leaf.holds == hdf5::Leaf::tensor) {
        problems_.add({}, quote(leaf.place), " is no list of names");
        continue;
      }
      const hdf5::LeafValues listed = file.read(leaf);
      for (const Plain& name : listed.plain.items()) {
        if (names.count(std::string(name.characters())) == 0) {
          problems_.add({}, quote(leaf.place), " lists ", quote(name.characters()),
                        ", and there is no such demonstration");
        }
      }
    }
  }

  void check_observations(const Spot& at, const TensorDict& rows) const {
    if (rows.kind_of({"next", "observation"}) != EntryKind::dict ||
        rows.kind_of({"observation"}) != EntryKind::dict)
      return;
    const TensorDict here = rows.get_dict({"observation"}),
                     next = rows.get_dict({"next", "observation"});
    for (const OwnedKey& key : keys_of(here)) {
      if (next.kind_of(views_of(key)) == EntryKind::none)
        problems_.add(at, "\"next_obs\" has no ", shown(key), ", which \"obs\" has");
      OwnedKey whole{"observation"};
      whole.insert(whole.end(), key.begin(), key.end());
      check_shifted(problems_, at, rows, whole, "\"obs\"", "\"next_obs\"");
    }
    for (const OwnedKey& key : keys_of(next)) {
      if (here.kind_of(views_of(key)) == EntryKind::none)
        problems_.add(at, "\"obs\" has no ", shown(key), ", which \"next_obs\" has");
    }
  }

  // It gives an entry the name of its group, of which it then reads one alone.
  void note_groups(const TensorDict& observation) const {
    for (const OwnedKey& key : keys_of(observation)) {
      if (key.size() < 2) continue;
      problems_.note({}, "\"obs\" has ", shown(key), ", which robomimic 0.3 reads as ",
                     quote(key[0]), ": one entry of a group at a time");
    }
  }

  // The entries at any depth, and how robomimic asks for one.
  static std::vector<OwnedKey> keys_of(const TensorDict& td) {
    std::vector<OwnedKey> keys;
    visit_paths(*td.node(), [&](Path path, const Value& value) {
      if (!is_branch(value)) keys.emplace_back(path.begin(), path.end());
    });
    return keys;
  }
  static std::string shown(const OwnedKey& key) {
    std::string name = key[0];
    for (std::size_t i = 1; i < key.size(); ++i) name += "/" + key[i];
    return quote(name);
  }

  void note_done(Spot at, const at::Tensor& before) const {
    at.row = before.nonzero()[0].item<std::int64_t>();
    problems_.note(at, "it is done, and goes on");
  }

  bool raw_ = false;  // of robosuite: values of any robot
};

class D4rlChecker final : public Checker {
 public:
  using Checker::Checker;

  void look() override {
    const auto file = hdf5::GroupFile::open(problems_.path(), 0, 0);
    std::int64_t rows = -1;
    bool timeouts = false;
    for (const hdf5::Leaf& leaf : file->leaves("/")) {
      if (leaf.path == OwnedKey{"observations"}) rows = leaf.rows();
      timeouts = timeouts || leaf.path == OwnedKey{"timeouts"};
    }
    if (rows < 0) return;  // in chunks
    if (!timeouts) problems_.note({}, "there are no \"timeouts\": only terminals end an episode");
    for (const hdf5::Leaf& leaf : file->leaves("/")) {
      if (leaf.path[0] == "infos" && leaf.rows() != rows) {
        problems_.add({}, quote(leaf.place), " has ", leaf.rows(),
                      " rows, and the observations have ", rows);
      }
      for (const char* name : {"terminals", "timeouts"}) {
        if (leaf.path == OwnedKey{name} && leaf.holds == hdf5::Leaf::tensor &&
            leaf.dtype != at::kBool)
          problems_.note({}, quote(leaf.place), " holds numbers, and D4RL writes true and false");
      }
    }
  }

  void episode(const Source& source, std::int64_t number, const TensorDict& rows) override {
    const Spot at{"", number};
    check_shifted(problems_, at, rows, {"observation"}, "\"observations\"",
                  "\"next_observations\"");
    const at::Tensor done = flags_of(rows, {"next", "done"});
    if (number + 1 == source.episodes && done.defined() && !done[-1].item<bool>())
      problems_.note(at, "it is the last one, and has no end");
  }
};

class RosChecker final : public Checker {
 public:
  using Checker::Checker;

  void begin(const Source& source) override {
    for (std::int64_t i = 0; i < source.episodes; ++i) {
      problems_.attempt({"", i}, [&] {
        const TensorDict about = source.metadata(i);
        const Plain cut = metadata_member(about, "cut");
        if (cut.is(Plain::text)) problems_.add({"", i}, cut.characters());
        const Plain left_out = metadata_member(about, "left_out");
        for (const Plain& topic : left_out.items()) {
          const Plain *name = topic.find("topic"), *why = topic.find("why");
          if (name != nullptr && why != nullptr)
            problems_.note({"", i}, "the topic ", quote(name->characters()),
                           " is left out: ", why->characters());
        }
      });
    }
  }
};

}  // namespace

std::unique_ptr<Checker> robomimic_checker(Problems& problems) {
  return std::make_unique<RobomimicChecker>(problems);
}
std::unique_ptr<Checker> d4rl_checker(Problems& problems) {
  return std::make_unique<D4rlChecker>(problems);
}
std::unique_ptr<Checker> ros_checker(Problems& problems) {
  return std::make_unique<RosChecker>(problems);
}

}  // namespace td::datasets
