/* tdtool cat: several dictionaries one after the other. The files of the result grow input by input, so that all of
 * it may be larger than the memory. */
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tdtool.h"

static struct {
  const char *to;
  bool force;
} given;

static const tool_option options[] = {
    {"to", 't', "FORM", FORM_WORDS, "the form of OUT; else its suffix says it", TAKES_TEXT,
     &given.to},
    {"force", 0, NULL, NULL, "replace OUT if it is there", TAKES_NOTHING, &given.force},
};

/* What is being filled, beside its place; goes when the program ends early. */
static char *scratch;

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place) {
  (void)about, (void)kind, (void)place;
  return remove(path);
}

static void remove_scratch(void) {
  if (scratch) nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  free(scratch);
  scratch = NULL;
}

/* .OUT.tdtool-PID, in the folder of OUT. */
static void name_scratch(const char *out) {
  text name = {NULL, 0, 0};
  size_t length = strlen(out);
  while (length > 1 && out[length - 1] == '/') length--;
  size_t base = length;
  while (base > 0 && out[base - 1] != '/') base--;
  add_bytes(&name, out, base);
  add(&name, ".");
  add_bytes(&name, out + base, length - base);
  addf(&name, ".tdtool-%ld", (long)getpid());
  scratch = name.data;
  atexit(remove_scratch);
}

static td_status append(void *user) {
  const td_tensordict *td = user;
  return td_memmap_append(scratch, td, NULL);
}

/* A folder that the inputs are appended to; false when they are of a kind that does not grow. */
static bool join_in_files(const char *out, char **paths, int count) {
  name_scratch(out);
  for (int i = 0; i < count; i++) {
    td_tensordict *one = open_any(paths[i], false);
    td_dict_kind kind;
    size_t bytes;
    must(td_kind_of_dict(one, &kind));
    if (kind != TD_DICT_DENSE) { /* to a lazy stack, an element would be appended */
      td_free(one);
      remove_scratch();
      return false;
    }
    if (i == 0) {
      save_any(one, scratch, FORM_FOLDER, paths[i]);
    } else {
      must(td_nbytes(one, &bytes));
      td_status status = progress_call(paths[i], bytes, append, one);
      if (status == TD_ERR_UNSUPPORTED) {
        td_free(one);
        remove_scratch();
        return false;
      }
      if (status != TD_OK) die("%s: %s", paths[i], td_last_error_message());
    }
    td_free(one);
  }
  return true;
}

/* With shapes only, this says whether they fit. */
static td_tensordict *join(char **paths, int count, bool shapes_only) {
  td_tensordict **sources = xcalloc((size_t)count, sizeof(*sources)), *joined;
  for (int i = 0; i < count; i++) sources[i] = open_any(paths[i], shapes_only);
  must(td_cat((const td_tensordict *const *)sources, (size_t)count, 0, &joined));
  for (int i = 0; i < count; i++) td_free(sources[i]);
  free(sources);
  return joined;
}

static int run(int count, char **arguments) {
  const char *out = arguments[--count];
  struct stat about;
  form as = form_for(out, given.to);
  if (!given.force) refuse_existing(out);
  td_tensordict *joined = join(arguments, count, true);
  td_free(joined);
  if (join_in_files(out, arguments, count)) {
    bool there = stat(out, &about) == 0;
    if (as == FORM_FOLDER && !there) {
      if (rename(scratch, out) != 0) die("%s: %s", out, strerror(errno));
      free(scratch);
      scratch = NULL;
      joined = open_any(out, true);
    } else {
      joined = open_any(scratch, false);
      save_any(joined, out, as, "save");
    }
  } else {
    joined = join(arguments, count, false);
    save_any(joined, out, as, "save");
  }
  print_saved(joined, out, as);
  td_free(joined);
  remove_scratch();
  return TOOL_FINE;
}

const tool_command command_cat = {
    .name = "cat",
    .arguments = "PATH... OUT [OPTION...]",
    .summary = "Joins dictionaries along their first batch dimension",
    .text =
        "All must have the same keys, dtypes and shapes but for the number of rows. The files grow "
        "input by input: "
        "what they hold may be larger than the memory.",
    .example = "tdtool cat monday tuesday wednesday week\ntdtool cat shard-* all.tdz",
    .options = options,
    .options_len = COUNT_OF(options),
    .least = 2,
    .most = -1,
    .run = run,
};
