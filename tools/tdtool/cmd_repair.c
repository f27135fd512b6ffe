/* tdtool repair: sets the rows of a folder to the complete rows in its files, and frees the rest. */
#include <string.h>

#include "runs.h"
#include "views.h"

static void print_text(const char *path, int64_t rows, int64_t kept, int64_t spare) {
  text line = {NULL, 0, 0};
  add_escaped(&line, path);
  add(&line, ": ");
  if (kept < rows) {
    addf(&line, "%s %lld of %lld rows, which not all files hold",
         repair_asked.dry ? "would drop" : "dropped", (long long)(rows - kept), (long long)rows);
  }
  if (kept > rows) {
    addf(&line, "%s %lld rows that an interrupted writer left, %lld in all",
         repair_asked.dry ? "would bring back" : "brought back", (long long)(kept - rows),
         (long long)kept);
  } else if (spare) {
    addf(&line, "%s%s ", kept < rows ? ", " : "",
         repair_asked.dry ? "would give back" : "gave back");
    add_size(&line, (uint64_t)spare);
    addf(&line, " behind %lld rows", (long long)kept);
  }
  if (kept == rows && !spare) addf(&line, "nothing to repair, %lld rows", (long long)rows);
  puts(line.data);
  text_free(&line);
}

int run_repair(int count, char **arguments) {
  int64_t rows, stored, spare;
  const char *path = arguments[0];
  const bool may_be_set =
      is_set(path) || form_of_file(path) == (form)TD_FILE_HDF5; /* that does not open */
  if (may_be_set) return repair_set(path, count > 1 ? arguments[1] : path);
  if (count > 1) die_usage("%s is no data set; only these are repaired into another place", path);
  if (form_of_file(path) != FORM_FOLDER)
    die("%s is not a folder; only folders and data sets can be repaired", path);
  must(td_memmap_length(path, &rows, &stored, &spare));
  int64_t kept = stored;
  if (kept == 0 && rows > 0 && !repair_asked.dry && !repair_asked.force) {
    die("%s: a file holds no complete row, so none of %lld would stay; --force drops them", path,
        (long long)rows);
  }
  bool torn = kept != rows || spare > 0;
  if (torn && !repair_asked.dry) must(td_memmap_truncate(path, kept, NULL));
  if (common.json) {
    json_begin('{');
    json_member(text, "path", path);
    json_member(int, "rows", rows);
    json_member(int, "kept", kept);
    json_member(int, "spare_bytes", spare);
    json_member(bool, "changed", torn && !repair_asked.dry);
    json_end('}');
    json_finish();
  } else {
    print_text(path, rows, kept, spare);
  }
  return torn && repair_asked.dry ? TOOL_FOUND : TOOL_FINE;
}
