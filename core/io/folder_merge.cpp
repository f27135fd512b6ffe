// The fallback: moves the files into the existing folder one by one.
#include "core/io/folder.h"

#include <fcntl.h>
#include <cerrno>
#include <utility>

namespace td::files {

void FolderReplacement::merge(bool durable) {
  struct Step {
    std::size_t folder;
    std::string name;
    bool exchanged = false;
  };
  std::vector<std::string> folders{{}};
  std::vector<Step> files;
  std::vector<Step> metas;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const Descriptor from = open_beneath(aside_->content(), folders[i], folder_flags);
    if (!from.is_open()) fail_io("cannot open the folder", join(path(), folders[i]), errno);
    for (const Item& item : list(from.get(), path())) {
      if (item.found == Found::folder) {
        folders.push_back(below(folders[i], item.name));
      } else {
        (item.name == "meta.json" ? metas : files).push_back({i, item.name});
      }
    }
  }
  // Values first, then the meta.json files, nested ones first: a reader that finds a dictionary finds all of
  // it.
  files.insert(files.end(), metas.rbegin(), metas.rend());
  NewFolders made;
  for (std::size_t i = 1; i < folders.size(); ++i) made.make(join(target_, folders[i]));
  const auto open_both = [&](std::size_t i) {
    std::pair<Descriptor, Descriptor> both(
        open_beneath(aside_->content(), folders[i], folder_flags),
        open_beneath(held_->descriptor(), folders[i], folder_flags));
    if (both.first.is_open() && both.second.is_open()) return both;
    fail_io("cannot open the folder", join(target_, folders[i]), errno);
  };
  const auto take_back = [&](std::size_t step) {
    const Step& at = files[step];
    const Descriptor from = open_beneath(aside_->content(), folders[at.folder], folder_flags);
    const Descriptor to = open_beneath(held_->descriptor(), folders[at.folder], folder_flags);
    if (at.exchanged) {
      rename_as(from.get(), at.name.c_str(), to.get(), at.name.c_str(), Rename::exchange);
    } else {
      rename_as(to.get(), at.name.c_str(), from.get(), at.name.c_str(), Rename::plain);
    }
  };
  std::size_t done = 0;
  std::size_t dropped = 0;
  const auto drop = [&](std::size_t i, bool back) {
    const std::string above(folder_part(dropped_[i]));
    const Descriptor folder = open_beneath(held_->descriptor(), above, folder_flags);
    if (!folder.is_open()) return errno;
    const char* name = name_part(dropped_[i]);
    return back ? aside_->bring_back(folder.get(), name, i)
                : aside_->put_away(folder.get(), name, i);
  };
  try {
    std::pair<Descriptor, Descriptor> both;
    for (; done < files.size(); ++done) {
      Step& at = files[done];
      if (done == 0 || at.folder != files[done - 1].folder) both = open_both(at.folder);
      const char* name = at.name.c_str();
      int error = rename_as(both.first.get(), name, both.second.get(), name, Rename::exchange);
      at.exchanged = error == 0;
      if (error == ENOENT || error == EINVAL) {
        error = rename_as(both.first.get(), name, both.second.get(), name, Rename::plain);
      }
      if (error != 0)
        fail_io("cannot replace", join(target_, below(folders[at.folder], name)), error);
    }
    for (; dropped < dropped_.size(); ++dropped) {
      const int error = drop(dropped, /*back=*/false);
      if (error != 0 && error != ENOENT && error != ENOTDIR && error != EXDEV && error != EBUSY) {
        fail_io("cannot remove", join(target_, dropped_[dropped]), error);
      }
    }
    for (std::size_t i = 0; durable && i < folders.size(); ++i) {
      sync_folder(open_both(i).second.get(), join(target_, folders[i]));
    }
  } catch (...) {
    while (dropped-- > 0) drop(dropped, /*back=*/true);
    while (done-- > 0) take_back(done);
    throw;
  }
  made.keep();
}

}  // namespace td::files
