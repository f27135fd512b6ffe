// The core's formats for C.
#include <string>

#include "core/formats/dtypes.h"
#include "core/formats/zip_file.h"
#include "plain.h"

namespace {

constexpr std::string_view prefix = "torch.";

}  // namespace

extern "C" const char *dtype_name(td_dtype dtype) {
  const td::DTypeRow *row = td::find_dtype(static_cast<td::DType>(dtype));
  return row == nullptr ? "?" : row->torch.data() + prefix.size();
}

extern "C" bool zip_holds(const char *path, const char *name) {
  try {
    const auto archive = td::zip_file::MappedArchive::open(path);
    for (const td::zip_file::Entry &entry : archive.reader().entries()) {
      const std::size_t slash = entry.name.find('/');
      if (slash != std::string::npos && entry.name.compare(slash + 1, std::string::npos, name) == 0)
        return true;
    }
  } catch (const std::exception &) {
  }
  return false;
}
