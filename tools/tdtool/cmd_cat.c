/* tdtool cat: several dictionaries one after the other. The files of the result grow input by input, so that all of
 * it may be larger than the memory. */
#include <stdlib.h>

#include "runs.h"

static td_status append(void *user) {
  const td_tensordict *td = user;
  return td_memmap_append(scratch_path(), td, NULL);
}

/* Makes the folder to which the inputs are appended; false for kinds of dictionaries that cannot grow. */
static bool join_in_files(const char *out, char **paths, int count) {
  scratch_begin(out);
  for (int i = 0; i < count; i++) {
    td_tensordict *one = open_any(paths[i], false);
    td_dict_kind kind;
    size_t bytes;
    must(td_kind(one, &kind));
    if (kind != TD_DICT_DENSE) { /* to a lazy stack, an element would be appended */
      td_free(one);
      scratch_remove();
      return false;
    }
    if (i == 0) {
      save_any(one, scratch_path(), FORM_FOLDER, "cat");
    } else {
      must(td_nbytes(one, &bytes));
      td_status status = progress_call("cat", bytes, append, one);
      if (status == TD_ERR_UNSUPPORTED) {
        td_free(one);
        scratch_remove();
        return false;
      }
      if (status != TD_OK) die("%s: %s", paths[i], td_last_error_message());
    }
    td_free(one);
    scratch_check();
  }
  return true;
}

/* Reads shapes only, to check that the inputs fit. */
static td_tensordict *join(char **paths, int count, bool shapes_only) {
  td_tensordict **sources = xcalloc((size_t)count, sizeof(*sources)), *joined;
  for (int i = 0; i < count; i++) sources[i] = open_any(paths[i], shapes_only);
  must(td_cat((const td_tensordict *const *)sources, (size_t)count, 0, &joined));
  for (int i = 0; i < count; i++) td_free(sources[i]);
  free(sources);
  return joined;
}

int run_cat(int count, char **arguments) {
  const char *out = arguments[--count];
  form as = form_for(out);
  refuse_existing(out);
  td_tensordict *joined = join(arguments, count, true);
  td_free(joined);
  if (join_in_files(out, arguments, count)) {
    joined = scratch_keep(out, as);
  } else {
    joined = join(arguments, count, false);
    save_any(joined, out, as, "save");
  }
  print_saved(joined, out, as);
  td_free(joined);
  scratch_remove();
  return TOOL_FINE;
}
