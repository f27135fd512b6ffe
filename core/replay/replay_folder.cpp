#include "core/replay/replay_folder.h"

#include "core/formats/json_text.h"
#include "core/replay/live_folder.h"
#include "core/replay/priorities.h"
#include "core/replay/writer_state.h"

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <initializer_list>

namespace td::replay_folder {

namespace {

using files::Found;
using files::join;

constexpr std::size_t most_other_bytes = std::size_t{64} << 20;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_ours_in_writer(std::string_view name) {
  return is_one_of(name, {"metadata.json", WriterState::ranks_file, WriterState::generations_file});
}

// What is no entry of the stored dictionary.
bool is_extra_in_storage(const files::Item& item) {
  return item.found == Found::file &&
         (files::ends_with(item.name, ".pt") || files::ends_with(item.name, ".t") ||
          files::ends_with(item.name, ".txt"));
}

bool is_ours_in_sampler(std::string_view name) {
  return is_one_of(
      name, {Priorities::settings_file, "sumtree.memmap", "mintree.memmap", "meta.json",
             "len_storage.memmap", "_sample_list.memmap", "drop_last.memmap", "_ran_out.memmap"});
}

// Collects unknown files below a folder; does not follow links.
class Others {
 public:
  // `foreign`: all of the sampler's files are.
  Others(const std::string& root, bool foreign) : root_(root), foreign_(foreign) {}

  std::vector<std::pair<std::string, std::string>> collect() {
    for (const files::Item& item : finished(root_))
      if (!is_ours(item.name)) take(item, item.name);
    take_some(sampler,
              [&](const files::Item& item) { return foreign_ || !is_ours_in_sampler(item.name); });
    take_some(writer, [](const files::Item& item) { return !is_ours_in_writer(item.name); });
    take_some(storage, is_extra_in_storage);
    return std::move(found_);
  }

 private:
  template <class Wanted>
  void take_some(const char* folder, const Wanted& wanted) {
    if (files::look(join(root_, folder)).found != Found::folder) return;
    for (const files::Item& item : finished(join(root_, folder)))
      if (wanted(item)) take(item, join(folder, item.name));
  }

  void take(const files::Item& item, const std::string& path) {
    std::vector<std::pair<Found, std::string>> todo{{item.found, path}};
    while (!todo.empty()) {
      const auto [found, at] = std::move(todo.back());
      todo.pop_back();
      if (found == Found::file) {
        found_.emplace_back(at, files::read(join(root_, at), most_other_bytes - bytes_));
        bytes_ += found_.back().second.size();
      } else if (found == Found::folder) {
        for (const files::Item& inner : files::list(join(root_, at)))
          todo.emplace_back(inner.found, join(at, inner.name));
      }
      if (found_.size() + todo.size() > 10000)
        fail(Code::format, "\"", root_, "\" holds more than 10000 files of other parts");
    }
  }

  const std::string& root_;
  bool foreign_;
  std::vector<std::pair<std::string, std::string>> found_;
  std::size_t bytes_ = 0;
};

}  // namespace

bool is_ours(std::string_view name) {
  return is_one_of(name, {storage, replay_folder::sampler, replay_folder::writer, buffer_json,
                          draws_json, queue_file, LiveFolder::file_name});
}

std::vector<files::Item> finished(const std::string& path) {
  const files::Descriptor folder(::open(path.c_str(), files::folder_flags));
  if (!folder.is_open()) files::fail_io("cannot open the folder", path, errno);
  std::vector<files::Item> items = files::list(folder.get(), path);
  const auto left = [&](const files::Item& item) {
    return files::is_unfinished(folder.get(), item);
  };
  items.erase(std::remove_if(items.begin(), items.end(), left), items.end());
  return items;
}

std::vector<std::pair<std::string, std::string>> others_in(const std::string& folder,
                                                           bool foreign) {
  return Others(folder, foreign).collect();
}

bool holds_rows(const std::string& folder, const std::string& member) {
  return files::look(join(join(folder, storage) + member, "meta.json")).found != Found::nothing;
}

bool is_one(const std::string& folder) {
  const auto has = [&](const char* name) {
    return files::look(join(folder, name)).found == Found::file;
  };
  return has(storage_json) || has(writer_json);
}

std::optional<Ensemble> ensemble_in(const std::string& folder) {
  const std::string path = join(join(folder, storage), "metadata.json");
  // A compressed list has a file of that name, too.
  if (files::look(path).found != Found::file ||
      files::look(join(join(folder, storage), "data_indices.json")).found != Found::nothing)
    return std::nullopt;
  const Plain json = read_json(files::read(path, longest_json), "\"" + path + "\"");
  const Plain* empty = json.find("empty_members", Plain::list);
  if (empty == nullptr) return std::nullopt;
  Ensemble result;
  for (const Plain& member : empty->items()) result.empty.push_back(member.integral());
  constexpr std::int64_t most_members = 10000;
  const auto is_member = [&](std::int64_t k) {
    const std::string name = std::to_string(k);
    return files::look(join(join(folder, storage), name)).found == Found::folder ||
           files::look(join(join(folder, writer), name)).found == Found::folder ||
           std::find(result.empty.begin(), result.empty.end(), k) != result.empty.end();
  };
  while (result.members < most_members && is_member(result.members)) ++result.members;
  return result;
}

}  // namespace td::replay_folder
