#include "core/datasets/bag_files.h"

#include "core/bags/bag.h"
#include "core/io/beneath.h"
#include "core/io/file_io.h"

#include <algorithm>
#include <cctype>

namespace td::datasets {

namespace {

// Numbers in names count as numbers.
bool comes_before(const std::string& one, const std::string& other) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < one.size() && j < other.size()) {
    if (!is_digit(one[i]) || !is_digit(other[j])) {
      if (one[i] != other[j]) return one[i] < other[j];
      ++i;
      ++j;
      continue;
    }
    const auto digits = [&](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t first = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(first, at - first);
    };
    const std::string a = digits(one, i), b = digits(other, j);
    if (a.size() != b.size()) return a.size() < b.size();
    if (a != b) return a < b;
  }
  if (one.size() - i != other.size() - j) return one.size() - i < other.size() - j;
  return one < other;
}

std::vector<files::Item> items_of(const std::string& folder) {
  std::vector<files::Item> items = files::list(folder);
  std::sort(items.begin(), items.end(), [](const files::Item& one, const files::Item& other) {
    return comes_before(one.name, other.name);
  });
  return items;
}

// Databases are used for much else.
bool is_bag_file(const std::string& folder, const files::Item& item) {
  const std::string path = files::join(folder, item.name);
  if (item.found != files::Found::file || !bags::is_bag(path)) return false;
  return bags::is_mcap(path) || files::ends_with(item.name, ".db3");
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const files::Item& item : items_of(folder)) {
    if (is_bag_file(folder, item)) files.push_back(files::join(folder, item.name));
  }
  return files;
}

}  // namespace

std::vector<std::vector<std::string>> bag_files(const std::string& path) {
  std::vector<std::vector<std::string>> episodes;
  if (files::look(path).found != files::Found::folder) {
    if (bags::is_bag(path)) episodes.push_back({path});
    return episodes;
  }
  const bool is_one = files::look(files::join(path, "metadata.yaml")).found == files::Found::file;
  if (is_one) {
    episodes.push_back(files_in(path));
  } else {
    for (const files::Item& item : items_of(path)) {
      const std::string inside = files::join(path, item.name);
      if (item.found == files::Found::folder) episodes.push_back(files_in(inside));
      if (is_bag_file(path, item)) episodes.push_back({inside});
    }
  }
  const auto none = [](const std::vector<std::string>& files) { return files.empty(); };
  episodes.erase(std::remove_if(episodes.begin(), episodes.end(), none), episodes.end());
  return episodes;
}

}  // namespace td::datasets
