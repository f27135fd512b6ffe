// Reads what lies on the disk into the lines of a tree. What it shows is what the library would show; where it is not
// sure, it leaves all to the library.
#include "light.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <algorithm>
#include <memory>

#include "light_flat.h"
#include "light_nodes.h"
#include "light_numpy.h"
#include "light_zip.h"

namespace light {

namespace {

bool is_folder(const std::string &path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Zip archives: with a meta.json at the top one of ours, else perhaps of NumPy.
form read_zip(std::unique_ptr<const File> file, form named, const key &wanted, Lines &to) {
  const auto archive = std::make_shared<const Archive>(std::move(file));
  if (archive->find("meta.json") != nullptr) {
    read_nodes(open_archive(archive), wanted, to);
    return FORM_ARCHIVE;
  }
  if (named == FORM_TORCH) throw NotPlain();
  read_npz(*archive, to);
  return FORM_NPZ;
}

// What a file is, is told by its first bytes; other forms than these are the library's.
form read_file(const std::string &path, const key &wanted, Lines &to) {
  const form named = form_of_name(path.c_str());
  auto file = std::make_unique<const File>(AT_FDCWD, path);
  const std::string head = file->read(0, std::min<std::uint64_t>(file->bytes(), 9));
  if (head.compare(0, 4, "PK\3\4") == 0) return read_zip(std::move(file), named, wanted, to);
  const bool numpy = head.compare(0, 6, "\x93NUMPY") == 0;
  if (!numpy && (named == FORM_CSV || named == FORM_JSON || named == FORM_TORCH)) throw NotPlain();
  if (!numpy && (head.size() < 9 || head[8] != '{')) throw NotPlain();
  numpy ? read_npy(*file, to) : read_safetensors(*file, to);
  return numpy ? FORM_NPY : FORM_SAFETENSORS;
}

form read(const std::string &path, const key &wanted, Lines &to) {
  if (form_of_name(path.c_str()) == FORM_STORE) throw NotPlain();
  if (is_folder(path)) {
    read_nodes(open_folder(path), wanted, to);
    return FORM_FOLDER;
  }
  const form found = read_file(path, wanted, to);
  if (found == FORM_ARCHIVE) return found;
  if (common.batch_dims > 0) throw NotPlain();  // asks for others than the file has
  to.keep(wanted);
  return found;
}

}  // namespace

}  // namespace light

extern "C" bool read_light(const char *path, const char *typed, tree *of, form *which) {
  *of = {};
  key wanted{};
  if (typed != nullptr && *typed != '\0') wanted = key_parse(typed);
  bool done = true;
  try {
    light::Lines lines(of);
    *which = light::read(path, wanted, lines);
    tree_sum(of);
  } catch (const std::exception &) {
    tree_free(of);
    done = false;
  }
  key_free(&wanted);
  return done;
}
