/* tdtool drop: removes entries. */
#include "edit.h"
#include "runs.h"
#include "views.h"

int run_drop(int count, char **arguments) {
  if (view_asked.episodes || view_asked.keys.length) return drop_set(count, arguments);
  edit of = edit_begin(arguments[0]);
  for (int i = 1; i < count; i++) {
    key path = key_parse(arguments[i]);
    must(td_remove(of.td, path.names, path.length)); /* the error lists the keys */
    key_free(&path);
  }
  return edit_finish(&of, "drop");
}
