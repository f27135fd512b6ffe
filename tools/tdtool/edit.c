/* Saves an edited dictionary, in place or to another path. A folder gets hard links to the files of unchanged
 * tensors, and takes its name only when it is complete. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "edit.h"

/* Writes checksums if the input had checksums. */
static void keep_checksums(const char *path) {
  struct stat about;
  text file = {NULL, 0, 0};
  addf(&file, "%s/checksums", path);
  if (stat(file.data, &about) == 0) saving.checksums = true;
  text_free(&file);
}

edit edit_begin(const char *path) {
  edit result = {.path = path, .out = edit_asked.out ? edit_asked.out : path};
  if (edit_asked.out) {
    result.as = form_for(edit_asked.out);
    refuse_existing(edit_asked.out);
  } else {
    result.as = form_of_file(path);
    if (!form_saves(result.as)) {
      die("%s: a %s is only read; --out names another place", path, form_title(result.as));
    }
    if (saving.to) die_usage("--to is the format of --out, which is not given");
    if (result.as == FORM_FOLDER) keep_checksums(path);
  }
  bool here = !edit_asked.out && result.as == FORM_FOLDER;
  result.td = here ? open_folder_shared(path) : open_any(path, false);
  return result;
}

int edit_finish(edit *of, const char *label) {
  save_any(of->td, of->out, of->as, label);
  print_saved(of->td, of->out, of->as);
  td_free(of->td);
  return TOOL_FINE;
}
