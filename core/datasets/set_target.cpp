#include "core/datasets/set_target.h"

#include "core/io/file_io.h"

#include <unistd.h>

namespace td::datasets {

SetTarget::SetTarget(const std::string& folder, Way way) : folder_(folder) {
  if (way == Way::whole) whole_.emplace(folder);
}

SetTarget::~SetTarget() {
  for (const std::string& path : new_) ::unlink(path.c_str());
}

std::string SetTarget::path(const std::string& relative) {
  const std::size_t slash = relative.rfind('/');
  const std::string parent = slash == std::string::npos ? "" : relative.substr(0, slash);
  if (!whole_) {
    parents_.make_with_parents(files::join(folder_, parent));
    return files::join(folder_, relative);
  }
  for (std::size_t end = 0; !parent.empty() && end != std::string::npos;) {
    end = parent.find('/', end + 1);
    if (made_.insert(parent.substr(0, end)).second) whole_->make_folder(parent.substr(0, end));
  }
  return files::join(whole_->path(), relative);
}

void SetTarget::put(const std::string& relative, const std::function<void(files::NewFile&)>& fill) {
  if (whole_) {
    files::NewFile file(path(relative), /*in_new=*/true);
    fill(file);
    file.commit();
  } else {
    fill(files_.emplace_back(path(relative)));
  }
}

void SetTarget::put(const std::string& relative, std::string_view content) {
  put(relative, [&](files::NewFile& file) { file.write(content.data(), content.size()); });
}

std::string SetTarget::place(const std::string& relative) {
  std::string made = path(relative);
  if (!whole_) new_.push_back(made);
  return made;
}

void SetTarget::commit(bool durable) {
  if (whole_) return whole_->commit(durable);
  if (durable) parents_.sync();
  for (files::NewFile& file : files_) {
    if (files::look(file.target()).found == files::Found::nothing) new_.push_back(file.target());
    file.commit(durable);
  }
  parents_.keep();
  new_.clear();
}

}  // namespace td::datasets
