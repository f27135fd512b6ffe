// What the writers of all kinds share.
#include "core/consolidated/file_bytes.h"
#include "core/datasets/save.h"
#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/hdf5/hdf5.h"
#include "core/io/file_io.h"
#include "core/tensor/dtype.h"
#include "core/tree/bytes_value.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

std::string place_text(const OwnedKey& place) {
  std::string text;
  for (const std::string& name : place) text += "/" + name;
  return text.empty() ? "/" : text;
}

bool is_below(const OwnedKey& key, const OwnedKey& top) {
  return key.size() >= top.size() && std::equal(top.begin(), top.end(), key.begin());
}

}  // namespace

OwnedKey joined(OwnedKey key, const OwnedKey& more) {
  key.insert(key.end(), more.begin(), more.end());
  return key;
}

void fail_needed(DatasetKind kind, const std::string& what, std::int64_t episode) {
  fail(Code::unsupported, "a data set of ", name_of(kind), " needs ", what,
       "; it is missing in episode ", episode);
}

Entries::Entries(const TensorDict& episode) {
  const SizesView batch = episode.batch_size();
  if (batch.empty()) fail(Code::shape, "an episode has a batch dimension of steps");
  steps_ = batch[0];
  visit_paths(*episode.node(), [&](Path path, const Value& value) {
    if (is_branch(value)) return;
    OwnedKey key(path.begin(), path.end());
    Rows rows;
    if (value.is_node()) {
      if (episode.kind_of(path) != EntryKind::non_tensor) {
        fail(Code::unsupported, show_path(path),
             " is a lazy stack or a nested tensor, which data sets do not hold");
      }
      const Plain lists = non_tensor_lists(*value.node());
      if (steps_ == 0) return;  // no value
      rows.values.assign(lists.items().begin(), lists.items().end());
    } else {
      rows.tensor = value.tensor();
    }
    entries_.emplace_back(std::move(key), std::move(rows));
  });
}

std::vector<OwnedKey> Entries::below(const OwnedKey& key) const {
  std::vector<OwnedKey> found;
  for (const auto& entry : entries_) {
    if (is_below(entry.first, key)) found.push_back(entry.first);
  }
  return found;
}

const Rows* Entries::find(const OwnedKey& key) const {
  for (const auto& entry : entries_) {
    if (entry.first == key) return &entry.second;
  }
  return nullptr;
}

std::optional<Rows> Entries::take(const OwnedKey& key) {
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if (at->first != key) continue;
    Rows rows = std::move(at->second);
    entries_.erase(at);
    return rows;
  }
  return std::nullopt;
}

void Draft::put(const OwnedKey& place, const at::Tensor& tensor) {
  const std::vector<std::string_view> path = views_of(place);
  if (root_.kind_of(path) != EntryKind::none)
    fail(Code::key_exists, "two entries would be the dataset ", quote(place_text(place)));
  root_.set(path, tensor);
}

void Draft::put_value(const OwnedKey& place, Plain value) {
  const std::vector<std::string_view> path = views_of(place);
  if (root_.kind_of(path) != EntryKind::none)
    fail(Code::key_exists, "two entries would be the dataset ", quote(place_text(place)));
  root_.set_non_tensor(path, std::move(value));
}

bool Draft::holds(const Rows& rows, const std::string& shown) {
  if (rows.is_tensor() || rows.values.empty() || hdf5::is_array(Plain::of_list(rows.values)))
    return true;
  lose("the values " + shown +
       ", which are not texts, pictures or numbers of one form in all rows");
  return false;
}

void Draft::put(const OwnedKey& place, const Rows& rows) {
  if (rows.is_tensor()) return put(place, rows.tensor);
  if (holds(rows, quote(place_text(place)))) put_value(place, Plain::of_list(rows.values));
}

void Draft::put_group(const OwnedKey& place) {
  const std::vector<std::string_view> path = views_of(place);
  if (!place.empty() && root_.kind_of(path) == EntryKind::none) root_.set(path, TensorDict());
}

void Draft::set_attribute(const OwnedKey& place, std::string_view name, Plain value) {
  const std::string text = place_text(place);
  const auto at = attributes_at_.emplace(text, attributes_.size());
  if (at.second) attributes_.push_back({text, {}});
  auto& members = attributes_[at.first->second].members;
  for (auto& member : members) {
    if (member.first == name) {
      member.second = std::move(value);
      return;
    }
  }
  members.emplace_back(name, std::move(value));
}

void Draft::lose(const std::string& what, bool is_counted) {
  if (std::find(lost_.begin(), lost_.end(), what) != lost_.end()) return;
  lost_.push_back(what);
  if (lossy_ && told_) told_(what, is_counted);
}

void Draft::lose_empty(std::int64_t episode) {
  lose("episode " + std::to_string(episode) + ", which has no steps");
}

void Draft::require_all(DatasetKind kind) const {
  if (lost_.empty() || lossy_) return;
  std::string list;
  for (std::size_t i = 0; i < lost_.size() && i < 8; ++i) list += (i == 0 ? "" : "; ") + lost_[i];
  if (lost_.size() > 8) list += "; and " + std::to_string(lost_.size() - 8) + " more";
  fail(Code::unsupported, "a data set of ", name_of(kind), " cannot hold this: ", list,
       "; lossy writes it without");
}

void Draft::write_to(hdf5::GrowingFile& file) {
  PlainBuilder all;
  all.open();
  for (const Attributes& place : attributes_) {
    all.name(place.place);
    all.open();
    for (const auto& member : place.members) {
      all.name(member.first);
      all.add(member.second);
    }
    all.close(true);
  }
  all.close(true);
  const TensorDict root = root_;
  drop();
  file.write(root, all.take());
}

void Draft::drop() {
  root_ = TensorDict();
  attributes_.clear();
  attributes_at_.clear();
}

hdf5::SaveOptions hdf5_options(const SetPlan& plan) {
  hdf5::SaveOptions options;
  options.deflate = plan.options.deflate;
  options.marks = false;
  return options;
}

std::unique_ptr<hdf5::GrowingFile> open_file(const SetPlan& plan) {
  const std::string target = new_file_path(plan.path);
  const bool there = plan.options.resume && files::look(target).found == files::Found::file;
  files::NewFolders parents;
  if (!there) parents.make_with_parents(files::parent_of(files::absolute(target)));
  auto file = hdf5::GrowingFile::open(target, there, /*in_new=*/false, hdf5_options(plan));
  parents.keep();
  return file;
}

Rows without_one(Rows rows) {
  if (rows.is_tensor() && rows.tensor.dim() == 2 && rows.tensor.size(1) == 1)
    rows.tensor = rows.tensor.squeeze(1);
  return rows;
}

Ends take_ends(Entries& entries, Draft& draft, std::int64_t episode) {
  const auto flag = [&](const char* name) {
    const std::optional<Rows> rows = entries.take({"next", name});
    if (!rows) return at::Tensor();
    const at::Tensor flags = rows->is_tensor() ? without_one(*rows).tensor : at::Tensor();
    if (!flags.defined() || flags.dim() != 1)
      fail(Code::shape, "(\"next\", ", quote(name), ") is not one flag for each step");
    return flags.to(at::kBool);
  };
  Ends ends{flag("terminated"), flag("truncated"), false, false};
  ends.has_terminated = ends.terminated.defined();
  ends.has_truncated = ends.truncated.defined();
  const at::Tensor done = flag("done");
  const at::Tensor none = at::zeros({entries.steps()}, at::kBool);
  if (!ends.terminated.defined()) {
    ends.terminated = !done.defined()            ? none
                      : ends.truncated.defined() ? done.logical_and(ends.truncated.logical_not())
                                                 : done;
  }
  if (!ends.truncated.defined()) ends.truncated = none;
  if (done.defined() && !at::equal(done, ends.terminated.logical_or(ends.truncated))) {
    draft.lose("(\"next\", \"done\") is not terminated or truncated in episode " +
               std::to_string(episode));
  }
  return ends;
}

namespace {

void put_group_members(Draft& draft, const OwnedKey& group, const std::string& name,
                       const Plain& value) {
  if (!value.is(Plain::object) || value.items().empty() || bytes_of(value))
    return draft.set_attribute(group, name, value);
  for (std::size_t i = 0; i < value.items().size(); ++i)
    put_group_members(draft, group, name + "/" + std::string(value.name(i)), value.items()[i]);
}

}  // namespace

void put_about(Draft& draft, const TensorDict& about, const OwnedKey& group,
               const std::vector<std::string_view>& without) {
  visit_paths(*about.node(), [&](Path path, const Value& value) {
    if (std::find(without.begin(), without.end(), path[0]) != without.end()) return;
    const OwnedKey key(path.begin(), path.end());
    const Plain* plain = value.is_node() ? one_value(*value.node()) : nullptr;
    if (plain != nullptr && key.size() == 1) {
      put_group_members(draft, group, key[0], *plain);
    } else if (plain != nullptr) {
      draft.put_value(joined(group, key), *plain);
    } else if (!value.is_node()) {
      draft.put(joined(group, key), value.tensor());
    }
  });
}

void put_metadata(Draft& draft, const TensorDict& metadata, const OwnedKey& attributes_of,
                  const std::vector<std::string_view>& without) {
  draft.put_group(attributes_of);
  visit_paths(*metadata.node(), [&](Path path, const Value& value) {
    if (std::find(without.begin(), without.end(), path[0]) != without.end()) return;
    if (is_branch(value)) return;
    const OwnedKey key(path.begin(), path.end());
    const bool of_file = key.size() == 2 && key[0] == "attributes";
    const Plain* plain = value.is_node() ? one_value(*value.node()) : nullptr;
    if (value.is_node() && plain == nullptr) {
      draft.lose("the metadata " + show_path(path));
    } else if (plain == nullptr) {
      draft.put(key, value.tensor());
    } else if (of_file) {
      draft.set_attribute({}, key[1], *plain);
    } else if (key.size() == 1) {
      draft.set_attribute(attributes_of, key[0], *plain);
    } else {
      draft.put_value(key, *plain);
    }
  });
}

void EntryForms::learn(const Source& set) {
  if (set.episodes == 0) return;
  require(Entries(set.read({{0, 0, std::min<std::int64_t>(1, set.length(0))}})), 0);
}

void EntryForms::require(const Entries& entries, std::int64_t episode) {
  for (const OwnedKey& top :
       {OwnedKey{"observation"}, OwnedKey{"action"}, OwnedKey{"next", "observation"}}) {
    for (const OwnedKey& key : entries.below(top)) {
      const Rows& rows = *entries.find(key);
      if (!rows.is_tensor()) continue;
      const SizesView sizes = rows.tensor.sizes().slice(1);
      const Form form{rows.tensor.scalar_type(), Sizes(sizes.begin(), sizes.end())};
      const Form& before = known_.emplace(key, form).first->second;
      if (before.dtype == form.dtype && before.sizes == form.sizes) continue;
      fail(Code::unsupported, "a data set of ", name_of(kind_), " cannot hold ",
           show_path(views_of(key)), " of episode ", episode, ": it has ", dtype_name(form.dtype),
           " rows of sizes ", show_sizes(form.sizes), ", the episodes before ",
           dtype_name(before.dtype), " rows of sizes ", show_sizes(before.sizes));
    }
  }
}

void refuse_taken(const OwnedKey& key, const std::vector<std::string_view>& taken) {
  if (std::find(taken.begin(), taken.end(), key[0]) != taken.end())
    fail(Code::key_exists, show_path(views_of(key)),
         " would be read as another entry: ", quote(key[0]), " is a name of the kind");
}

void note_episode(Draft& draft, const Entries& entries) {
  const Rows* found = entries.find({"episode"});
  if (found == nullptr || found->count() == 0) return;
  const at::Tensor& tensor = found->tensor;
  const bool counts =
      found->is_tensor() && tensor.numel() == found->count() && !tensor.is_complex() &&
      (c10::isIntegralType(tensor.scalar_type(), false) || tensor.eq(tensor[0]).all().item<bool>());
  if (!counts) draft.lose("\"episode\", which are no numbers of episodes");
}

void put_rest(Draft& draft, Entries& entries, const OwnedKey& place,
              const std::vector<std::string_view>& taken) {
  note_episode(draft, entries);
  for (const OwnedKey& key : entries.below({})) {
    refuse_taken(key, taken);
    if (key != OwnedKey{"episode"}) draft.put(joined(place, key), *entries.take(key));
  }
}

Plain object_of(const std::vector<std::pair<std::string, Plain>>& members) {
  PlainBuilder made;
  made.open();
  for (const auto& member : members) {
    made.name(member.first);
    made.add(member.second);
  }
  made.close(true);
  return made.take();
}

Plain list_of(SizesView sizes) {
  std::vector<Plain> items;
  for (const std::int64_t size : sizes) items.push_back(Plain::of_integer(size));
  return Plain::of_list(std::move(items));
}

std::string folder_for(const std::string& path, DatasetKind kind, const std::string& mark) {
  const std::string folder = files::absolute(path), file = files::join(folder, mark);
  const files::Found there = files::look(folder).found;
  const bool is_set = there == files::Found::folder &&
                      files::look(files::parent_of(file)).found == files::Found::folder &&
                      files::look(file).found == files::Found::file;
  if (there != files::Found::nothing && !is_set) {
    fail(Code::io, quote(folder), " is there already, and is no data set of ", name_of(kind),
         " to replace");
  }
  return folder;
}

}  // namespace td::datasets
