/* tdtool rename: gives an entry another key. */
#include "edit.h"
#include "runs.h"

int run_rename(int count, char **arguments) {
  (void)count;
  edit of = edit_begin(arguments[0]);
  key old = key_parse(arguments[1]), new = key_parse(arguments[2]);
  must(td_rename_key(of.td, old.names, old.length, new.names, new.length, TD_RENAME_KEY_SAFE));
  key_free(&old);
  key_free(&new);
  return edit_finish(&of, "rename");
}
