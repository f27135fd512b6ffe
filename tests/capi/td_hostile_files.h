/* td_hostile_files.h: files of other programs that are damaged or lie, given to td_file_load(). Whatever they say, the
 * call ends with a status or a dictionary that can be read. */
#ifndef TD_HOSTILE_FILES_H
#define TD_HOSTILE_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_arrow_files.h"

static inline int is_table(const char *name) {
  return strstr(name, ".parquet") != NULL || strstr(name, ".arrow") != NULL;
}

/* Whether the file is accepted. The end of the name stays, since it may be what tells the format. */
static inline int try(const char *name, const char *bytes, size_t size) {
  const char *path = file_named(name);
  td_tensordict *td = TD_POISON, *copy = NULL;
  td_write_file(path, bytes, size);
  const td_status status = td_file_load(path, NULL, &td);
  if (status == TD_OK) {
    TD_DO(td_clone(td, 0, &copy)); /* reads every value */
    free(td_printed(copy));
    td_free(copy);
    td_free(td);
    return 1;
  }
  TD_CHECK(td == NULL);
  if (status != TD_ERR_FORMAT && status != TD_ERR_DTYPE && status != TD_ERR_UNSUPPORTED &&
      status != TD_ERR_KEY_EXISTS && status != TD_ERR_KEY_INVALID && status != TD_ERR_WRONG_ENTRY &&
      (status != TD_ERR_SHAPE || is_table(name)))
    td_test_fail(__FILE__, __LINE__, "%s: status %d: %s", name, (int)status,
                 td_last_error_message());
  TD_CHECK(strchr(td_last_error_message(), '\n') == NULL);
  return 0;
}

#endif
