/* tdtool slice: a part of a dictionary, printed or saved. */
#include <stdlib.h>

#include "runs.h"
#include "views.h"

int run_slice(int count, char **arguments) {
  if (view_asked.episodes) return slice_set(count, arguments);
  td_index_item items[64];
  size_t items_len;
  if (td_index_parse(arguments[1], items, COUNT_OF(items), &items_len) != TD_OK) {
    die_usage("%s", td_last_error_message());
  }
  const char *out = count > 2 ? arguments[2] : NULL;
  form as = out ? form_for(out) : FORM_UNKNOWN;
  if (out) refuse_existing(out);
  td_tensordict *all = open_any(arguments[0], false), *part;
  must(td_index(all, items, items_len, &part));
  if (out) {
    save_any(part, out, as, "slice");
    print_saved(part, out, as);
  } else {
    leaves chosen = leaves_of(part, true);
    print_rows(part, &chosen, 0, slice_asked.rows);
    leaves_free(&chosen);
  }
  td_free(part);
  td_free(all);
  return TOOL_FINE;
}
