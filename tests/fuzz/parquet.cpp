// Files of Parquet without a footer: the first two bytes are the length of a whole one with the same columns.
#include "fuzz.h"

#include "core/base/error.h"
#include "core/datasets/parquet_form.h"
#include "core/datasets/parquet_rescue.h"

#include <cstring>

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size < 2) return 0;
  std::uint16_t length = 0;
  std::memcpy(&length, data, sizeof length);
  const std::string_view all(reinterpret_cast<const char *>(data) + 2, size - 2);
  const std::string_view like = all.substr(0, length), cut = all.substr(like.size());
  for (const std::string_view file : {like, all})
    FUZZ_CHECK(td::datasets::rows_of_parquet(file).value_or(0) >= 0);
  try {
    const td::datasets::RescuedTable table =
        td::datasets::rescue_parquet(cut, like, SIZE_MAX, "\"a table\"");
    FUZZ_CHECK(table.bytes.substr(0, 4) == "PAR1" &&
               table.bytes.substr(table.bytes.size() - 4) == "PAR1");
    FUZZ_CHECK(table.left <= cut.size());
    for (const std::int64_t rows : table.groups) FUZZ_CHECK(rows > 0);
  } catch (const td::Error &error) {
    FUZZ_CHECK(error.what()[0] != '\0' && std::strchr(error.what(), '\n') == nullptr);
  }
  return 0;
}
