/* tdtool repair: a folder ends where all of its files end. */
#include <string.h>

#include "tdtool.h"

static struct { bool dry, force; } given;

static const tool_option options[] = {
    {"dry-run", 'n', NULL, NULL, "print what would be done, without changes", TAKES_NOTHING,
     &given.dry},
    {"force", 0, NULL, NULL, "repair even if no row remains", TAKES_NOTHING, &given.force},
};

static void print_text(const char *path, int64_t rows, int64_t kept, int64_t spare) {
  text line = {NULL, 0, 0};
  add_escaped(&line, path);
  add(&line, ": ");
  if (kept < rows) {
    addf(&line, "%s %lld of %lld rows, which not all files hold",
         given.dry ? "would drop" : "dropped", (long long)(rows - kept), (long long)rows);
  }
  if (spare) {
    addf(&line, "%s%s ", kept < rows ? ", " : "", given.dry ? "would give back" : "gave back");
    add_size(&line, (uint64_t)spare);
    addf(&line, " behind %lld rows", (long long)kept);
  }
  if (kept == rows && !spare) addf(&line, "nothing to repair, %lld rows", (long long)rows);
  puts(line.data);
  text_free(&line);
}

static int run(int count, char **arguments) {
  (void)count;
  int64_t rows, stored, spare;
  const char *path = arguments[0];
  if (form_of_file(path) != FORM_FOLDER)
    die("%s is not a folder; only folders can be repaired", path);
  must(td_memmap_length(path, &rows, &stored, &spare));
  int64_t kept = stored < rows ? stored : rows;
  if (kept == 0 && rows > 0 && !given.dry && !given.force) {
    die("%s: a file holds no complete row, so none of %lld would stay; --force drops them", path,
        (long long)rows);
  }
  bool torn = kept < rows || spare > 0;
  if (torn && !given.dry) must(td_memmap_truncate(path, kept, NULL));
  if (common.json) {
    json_begin('{');
    json_name("path");
    json_text(path);
    json_name("rows");
    json_int(rows);
    json_name("kept");
    json_int(kept);
    json_name("spare_bytes");
    json_int(spare);
    json_name("changed");
    json_bool(torn && !given.dry);
    json_end('}');
    json_finish();
  } else {
    print_text(path, rows, kept, spare);
  }
  return torn && given.dry ? TOOL_FOUND : TOOL_FINE;
}

const tool_command command_repair = {
    .name = "repair",
    .arguments = "FOLDER [OPTION...]",
    .summary = "Drops the torn tail that an interrupted writer left",
    .text =
        "tdtool drops rows that some files lack, and frees the space of rows that were "
        "never published. It does not change the other rows. With --dry-run the exit "
        "status is 1 if there is something to repair.",
    .example = "tdtool repair rollout --dry-run\ntdtool repair rollout",
    .options = options,
    .options_len = COUNT_OF(options),
    .least = 1,
    .most = 1,
    .run = run,
};
