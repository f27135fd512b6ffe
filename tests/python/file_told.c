/* Reads and writes files as it is told, for file_cases.py.
 *
 * Each line of the input is "FROM", a tab and "TO": a path with the suffix ".consolidated" is a consolidated file, one
 * without a suffix a folder, and any other a file of another program. The answer is "ok", or the status and its message. */
#include <stdlib.h>
#include <string.h>

#include "answer.h"

static const char *suffix(const char *path) {
  const char *const name = strrchr(path, '/'), *const dot = strrchr(path, '.');
  return dot != NULL && (name == NULL || dot > name) ? dot : "";
}

static td_status load(const char *from, td_tensordict **td) {
  if (*suffix(from) == '\0') return td_memmap_load(from, NULL, td);
  if (strcmp(suffix(from), ".consolidated") == 0) return td_consolidated_load(from, NULL, td);
  return td_file_load(from, NULL, td);
}

static td_status save(const td_tensordict *td, const char *to) {
  td_tensordict *written = NULL;
  td_status status;
  td_memmap_options whole = TD_MEMMAP_OPTIONS_INIT;
  whole.copy_existing = 1;
  if (*suffix(to) == '\0')
    status = td_memmap(td, to, &whole, &written);
  else if (strcmp(suffix(to), ".consolidated") == 0)
    status = td_consolidate(td, to, NULL, &written);
  else
    status = td_file_save(td, to, NULL);
  td_free(written);
  return status;
}

int main(void) {
  char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *const to = strchr(line, '\t');
    if (to == NULL) return 2;
    *to = '\0';
    td_tensordict *td = NULL;
    td_status status = load(line, &td);
    if (status == TD_OK) status = save(td, to + 1);
    answer(status);
    td_free(td);
  }
  return EXIT_SUCCESS;
}
