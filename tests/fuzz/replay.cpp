// Runs a fuzzer on files and folders of files, where there is no libFuzzer.
#include "fuzz.h"

#include <dirent.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace {

std::vector<std::string> inputs(const std::string &path) {
  DIR *folder = opendir(path.c_str());
  if (folder == nullptr) return {path};
  std::vector<std::string> names;
  while (const dirent *entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(path + "/" + name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const std::string &path : inputs(argv[i])) {
      std::ifstream file(path, std::ios::binary);
      if (!file) fuzz::fail(__FILE__, __LINE__, "cannot read " + path);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      std::fprintf(stderr, "%s\n", path.c_str());
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size());
      ++count;
    }
  }
  std::printf("%d inputs\n", count);
  return count == 0 ? 1 : 0;
}
