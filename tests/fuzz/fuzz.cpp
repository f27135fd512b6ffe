#include "fuzz.h"

#include "../support/td_faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fuzz {

void fail(const char *file, int line, const std::string &what) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
  std::abort();
}

bool done(td_status status) {
  if (status == TD_OK) return true;
  const char *text = td_last_error_message();
  if (status == TD_ERR_INTERNAL || status == TD_ERR_TORCH || status == TD_ERR_BAD_HANDLE ||
      status == TD_ERR_NULL_ARGUMENT || text[0] == '\0' || std::strchr(text, '\n') != nullptr) {
    fail(__FILE__, __LINE__, std::string(td_status_name(status)) + ": " + text);
  }
  return false;
}

namespace {

// Removes what lies in a folder; the program's own calls may be counted and watched.
void empty_folder(const std::string &path) {
  DIR *folder = opendir(path.c_str());
  if (folder == nullptr) return;
  while (const dirent *entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string inner = path + "/" + name;
    struct stat info {};
    if (lstat(inner.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      chmod(inner.c_str(), 0700);
      empty_folder(inner);
      rmdir(inner.c_str());
    } else {
      unlink(inner.c_str());
    }
  }
  closedir(folder);
}

std::string root;

void remove_root() {
  td_fault_stay_inside(nullptr);
  empty_folder(root);
  rmdir(root.c_str());
}

const std::string &find_root() {
  if (!root.empty()) return root;
  const char *base = std::getenv("TMPDIR");
  if (base == nullptr) base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  char text[4096];
  std::snprintf(text, sizeof text, "%s/td-fuzz-XXXXXX", base);
  char *real = mkdtemp(text) == nullptr ? nullptr : realpath(text, nullptr);
  FUZZ_CHECK(real != nullptr);
  root = real;
  std::free(real);
  std::atexit(remove_root);
  return root;
}

constexpr char secret[] = "nobody reads this";

void write_file(const std::string &path, std::string_view bytes) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return;  // a name that the input has chosen badly
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
}

}  // namespace

Scratch::Scratch() {
  td_fault_stay_inside(nullptr);
  find_root();
  empty_folder(root);
  mkdir((root + "/in").c_str(), 0700);
  write_file(root + "/secret.memmap", secret);
  td_fault_stay_inside((root + "/in").c_str());
}

Scratch::~Scratch() {
  td_fault_stay_inside(nullptr);
  std::size_t beside = 0;
  DIR *folder = opendir(root.c_str());
  while (readdir(folder) != nullptr) ++beside;
  closedir(folder);
  char text[sizeof secret + 1] = {0};
  std::FILE *file = std::fopen((root + "/secret.memmap").c_str(), "rb");
  FUZZ_CHECK(beside == 4 && file != nullptr);
  const std::size_t length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  FUZZ_CHECK(length == sizeof secret - 1 && std::memcmp(text, secret, length) == 0);
}

std::string Scratch::path(std::string_view name) const { return root + "/in/" + std::string(name); }

void Scratch::write(std::string_view name, std::string_view bytes) const {
  write_file(path(name), bytes);
}

void Scratch::make_folder(std::string_view name) const { mkdir(path(name).c_str(), 0700); }

void Scratch::unpack(std::string_view name, std::string_view text) const {
  constexpr std::string_view mark = "\n@@ ", arrow = " -> ";
  make_folder(name);
  for (std::size_t at = text.find(mark); at != text.npos;) {
    const std::size_t next = text.find(mark, at + mark.size());
    const std::string_view piece = text.substr(at + mark.size(), next - at - mark.size());
    at = next;
    const std::size_t line = piece.find('\n');
    std::string file(piece.substr(0, line));
    const std::string_view bytes = line == piece.npos ? "" : piece.substr(line + 1);
    std::string target;
    if (const std::size_t link = file.find(arrow); link != file.npos) {
      target = file.substr(link + arrow.size());
      file.resize(link);
    }
    // Never outside, whatever the input says.
    if (file.empty() || file.size() > 300 || file.find("..") != file.npos ||
        file.find('\0') != file.npos) {
      continue;
    }
    const std::string whole = path(name) + "/" + file;
    const std::size_t first = path(name).size() + 1;
    // Through a link on the way nothing is made or written: an earlier piece may have made it.
    struct stat info {};
    bool inside = true;
    for (std::size_t end = whole.find('/', first); inside && end != whole.npos;
         end = whole.find('/', end + 1)) {
      const std::string folder = whole.substr(0, end);
      mkdir(folder.c_str(), 0700);
      inside = lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
    }
    if (!inside) continue;
    if (!target.empty()) {
      if (symlink(target.c_str(), whole.c_str()) != 0) continue;
    } else {
      if (lstat(whole.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) continue;
      write_file(whole, bytes);
    }
  }
}

namespace {

class Keys {
 public:
  explicit Keys(const td_tensordict *td) {
    td_keys_options options = TD_KEYS_OPTIONS_INIT;
    options.include_nested = options.leaves_only = options.include_non_tensor = options.sort = 1;
    FUZZ_DO(td_keys_of(td, &options, &keys_));
  }
  ~Keys() { td_keys_free(keys_); }
  std::size_t size() const { return td_keys_len(keys_); }
  td_entry_kind at(std::size_t i, const char *const **path, std::size_t *length) const {
    td_entry_kind kind = TD_ENTRY_NONE;
    FUZZ_DO(td_keys_at(keys_, i, path, length));
    FUZZ_DO(td_keys_kind_at(keys_, i, &kind));
    return kind;
  }

 private:
  td_keys *keys_ = nullptr;
};

// Bytes of a tensor, its dtype and sizes before them; empty where it cannot be read as one.
std::string bytes_of(const td_tensordict *td, const char *const *path, std::size_t length) {
  td_tensor *tensor = nullptr;
  if (!done(td_get(td, path, length, &tensor))) return {};  // a lazy stack of several shapes
  td_dtype dtype{};
  std::int64_t sizes[64];
  std::size_t dims = 0, count = 0;
  td_device_type device{};
  std::int32_t index = 0;
  FUZZ_DO(td_tensor_dtype(tensor, &dtype));
  FUZZ_DO(td_tensor_device(tensor, &device, &index));
  std::string text;
  if (done(td_tensor_sizes(tensor, sizes, 64, &dims))) {
    text = std::to_string(static_cast<int>(dtype));
    for (std::size_t i = 0; i < dims; ++i) text += "," + std::to_string(sizes[i]);
    text += ":";
  }
  if (device == TD_DEVICE_CPU) {
    FUZZ_DO(td_tensor_nbytes(tensor, &count));
    // Longer ones are expanded: what is there is little.
    if (count <= (std::size_t{1} << 20)) {
      const std::size_t at = text.size();
      text.resize(at + count);
      FUZZ_DO(td_tensor_copy_to(tensor, &text[at], count));
    }
  }
  td_tensor_free(tensor);
  return text;
}

std::string value_of(const td_tensordict *td, const char *const *path, std::size_t length) {
  std::size_t count = 0;
  const td_status status = td_get_non_tensor_value_json(td, path, length, nullptr, 0, &count);
  if (status != TD_OK && status != TD_ERR_BUFFER_TOO_SMALL) {
    done(status);  // values that differ
    return {};
  }
  std::string text(count + 1, '\0');
  FUZZ_DO(td_get_non_tensor_value_json(td, path, length, &text[0], text.size(), &count));
  text.resize(count);
  return text;
}

std::string entry(const td_tensordict *td, td_entry_kind kind, const char *const *path,
                  std::size_t length) {
  return kind == TD_ENTRY_TENSOR       ? bytes_of(td, path, length)
         : kind == TD_ENTRY_NON_TENSOR ? value_of(td, path, length)
                                       : std::string();
}

}  // namespace

void read_all(const td_tensordict *td) {
  const Keys keys(td);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const char *const *path = nullptr;
    std::size_t length = 0;
    const td_entry_kind kind = keys.at(i, &path, &length);
    entry(td, kind, path, length);
  }
  std::size_t count = 0;
  const td_status status = td_to_string(td, nullptr, 0, &count);
  FUZZ_CHECK(status == TD_OK || status == TD_ERR_BUFFER_TOO_SMALL);
  std::string text(count + 1, '\0');
  FUZZ_DO(td_to_string(td, &text[0], text.size(), &count));
}

void same_leaves(const td_tensordict *one, const td_tensordict *other) {
  const Keys keys(one), others(other);
  FUZZ_CHECK(keys.size() == others.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const char *const *path = nullptr, *const *other_path = nullptr;
    std::size_t length = 0, other_length = 0;
    const td_entry_kind kind = keys.at(i, &path, &length);
    FUZZ_CHECK(others.at(i, &other_path, &other_length) == kind && other_length == length);
    for (std::size_t k = 0; k < length; ++k) FUZZ_CHECK(std::strcmp(path[k], other_path[k]) == 0);
    if (entry(one, kind, path, length) != entry(other, kind, path, length)) {
      std::string name;
      for (std::size_t k = 0; k < length; ++k) name += std::string("/") + path[k];
      fail(__FILE__, __LINE__, name + " is not what was saved");
    }
  }
}

void saves_again(const Scratch &scratch, const td_tensordict *td) {
  Dict saved, loaded;
  const td_status status = td_memmap(td, scratch.path("again").c_str(), nullptr, saved.out());
  if (!done(status)) {
    FUZZ_CHECK(status != TD_ERR_FORMAT);
    return;
  }
  same_leaves(td, saved.get());
  FUZZ_DO(td_memmap_load(scratch.path("again").c_str(), nullptr, loaded.out()));
  same_leaves(td, loaded.get());
}

}  // namespace fuzz
