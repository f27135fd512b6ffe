#include "core/datasets/set_folder.h"

#include "core/formats/json_text.h"
#include "core/io/beneath.h"
#include "core/io/mapped_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace td::datasets {

namespace {

constexpr std::size_t longest_json = std::size_t{1} << 28;
constexpr std::size_t deepest_json = 64;

bool leads_out(const std::string& relative) {
  if (relative.empty() || relative[0] == '/') return true;
  for (std::size_t at = 0; at <= relative.size();) {
    const std::size_t end = std::min(relative.find('/', at), relative.size());
    const std::string name = relative.substr(at, end - at);
    if (name.empty() || name == "." || name == "..") return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

SetFolder::SetFolder(const std::string& path)
    : path_(path), folder_(::open(path.c_str(), files::folder_flags)) {
  if (!folder_.is_open()) files::fail_io("cannot open", path_, errno);
}

std::string SetFolder::where(const std::string& relative) const {
  return quote(files::join(path_, relative));
}

files::Descriptor SetFolder::open(const std::string& relative, int flags) const {
  if (!relative.empty() && leads_out(relative)) {
    fail(Code::format, quote(path_), ": ", quote(relative), " leads out of the data set");
  }
  return files::open_beneath(folder_.get(), relative, flags);
}

bool SetFolder::has(const std::string& relative) const {
  return files::look_beneath(folder_.get(), relative, files::join(path_, relative)).found ==
         files::Found::file;
}

std::string SetFolder::text(const std::string& relative) const {
  return files::read(open(relative, O_RDONLY | O_CLOEXEC | O_NONBLOCK), longest_json,
                     files::join(path_, relative));
}

Plain SetFolder::json(const std::string& relative) const {
  return read_json(text(relative), where(relative), deepest_json, Repeated::kept);
}

std::vector<Plain> SetFolder::json_lines(const std::string& relative) const {
  const std::string all = text(relative);
  std::vector<Plain> lines;
  std::int64_t number = 0;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    const std::string_view line = std::string_view(all).substr(at, end - at);
    ++number;
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    lines.push_back(
        read_json(line, text_of(where(relative), ", line ", number), deepest_json, Repeated::kept));
  }
  return lines;
}

std::string SetFolder::tail(const std::string& relative, std::size_t bytes) const {
  const std::string path = files::join(path_, relative);
  const files::Descriptor file = open(relative, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!file.is_open()) files::fail_io("cannot open", path, errno);
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  std::string end(std::min<std::size_t>(bytes, size < 0 ? 0 : static_cast<std::size_t>(size)),
                  '\0');
  const ssize_t read =
      ::pread(file.get(), end.data(), end.size(), size - static_cast<off_t>(end.size()));
  if (read < 0 || size < 0) files::fail_io("cannot read", path, errno);
  end.resize(static_cast<std::size_t>(read));
  return end;
}

std::vector<std::string> SetFolder::names(const std::string& folder) const {
  const files::Descriptor opened = open(folder, files::folder_flags);
  const std::string path = files::join(path_, folder);
  if (!opened.is_open()) files::fail_io("cannot open", path, errno);
  std::vector<std::string> names;
  for (const files::Item& item : files::list(opened.get(), path)) names.push_back(item.name);
  return names;
}

std::vector<std::string> SetFolder::files(const std::string& folder, int levels,
                                          std::string_view end) const {
  const files::Descriptor opened = open(folder, files::folder_flags);
  const std::string path = files::join(path_, folder);
  if (!opened.is_open()) files::fail_io("cannot open", path, errno);
  std::vector<std::string> found;
  for (const files::Item& item : files::list(opened.get(), path)) {
    const std::string relative = folder + "/" + item.name;
    if (levels > 0 && item.found == files::Found::folder) {
      const std::vector<std::string> below = files(relative, levels - 1, end);
      found.insert(found.end(), below.begin(), below.end());
    } else if (levels == 0 && item.found != files::Found::folder &&
               files::ends_with(item.name, end)) {
      found.push_back(relative);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

FileBytes SetFolder::bytes(const std::string& relative) const {
  const std::string path = files::join(path_, relative);
  const files::Descriptor file = open(relative, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!file.is_open()) files::fail_io("cannot open", path, errno);
  const auto mapped = MappedFile::of_open(file.get(), path, MappedFile::whole, MapMode::priv);
  return {mapped->data(), mapped->bytes(), mapped, quote(path)};
}

std::shared_ptr<arrow::TableFile> SetFolder::table(const std::string& relative, FileFormat format,
                                                   std::uint64_t max_bytes) const {
  return std::make_shared<arrow::TableFile>(bytes(relative), format, max_bytes);
}

}  // namespace td::datasets
