/* tdtool drop: entries that go. */
#include "edit.h"
#include "runs.h"

int run_drop(int count, char **arguments) {
  edit of = edit_begin(arguments[0]);
  for (int i = 1; i < count; i++) {
    key path = key_parse(arguments[i]);
    must(td_remove(of.td, path.names, path.length)); /* says which keys there are */
    key_free(&path);
  }
  return edit_finish(&of, "drop");
}
