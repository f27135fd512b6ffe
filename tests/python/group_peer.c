/* A rank that does what it is told: group_peer RANK URL
 *
 * Each line of the input is a command with folders between tabs; the answer is "ok", or the status and its message. The other
 * rank is group_cases.py. Ends with 77 in a build without process groups.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

static td_group *group;
static int other;

static td_status loaded(const char *folder, td_tensordict **result) {
  td_tensordict *mapped = NULL;
  *result = NULL;
  td_status status = td_memmap_load(folder, NULL, &mapped);
  if (status == TD_OK) status = td_clone(mapped, 0, result);
  td_free(mapped);
  return status;
}

static td_status written(td_tensordict *td, const char *folder) {
  td_tensordict *mapped = NULL;
  const td_status status = td_memmap(td, folder, NULL, &mapped);
  td_free(mapped);
  return status;
}

static td_status gathered(td_tensordict *td, const char *folder) {
  td_tensordict *all[2] = {NULL, NULL};
  size_t count = 0;
  td_status status = td_group_all_gather(group, td, NULL, all, 2, &count);
  for (size_t i = 0; i < count && status == TD_OK; i++) {
    char name[4096];
    snprintf(name, sizeof name, "%s%zu", folder, i);
    status = written(all[i], name);
  }
  for (size_t i = 0; i < 2; i++) td_free(all[i]);
  return status;
}

/* NAME\tFOLDER\tRESULT\tNUMBER: the dictionary in FOLDER, or "-"; NUMBER is a rank or an operation. */
static td_status done(const char *name, const char *folder, const char *result, int number) {
  td_group_call_options options = TD_GROUP_CALL_OPTIONS_INIT;
  td_tensordict *td = NULL, *made = NULL;
  td_status status = strcmp(folder, "-") == 0 ? TD_OK : loaded(folder, &td);
  if (status != TD_OK) return status;
  if (strstr(name, "consolidated") != NULL) options.flags = TD_GROUP_CONSOLIDATED;
  if (strncmp(name, "send", 4) == 0)
    status = td_group_send(group, td, other, &options);
  else if (strncmp(name, "recv", 4) == 0)
    status = td_group_recv(group, td, other, &options);
  else if (strcmp(name, "init_remote") == 0)
    status = td_group_init_remote(group, td, other, NULL);
  else if (strcmp(name, "from_remote") == 0)
    status = td_group_from_remote_init(group, other, NULL, &made);
  else if (strcmp(name, "broadcast") == 0)
    status = td_group_broadcast(group, td, number, NULL, &made);
  else if (strcmp(name, "reduce") == 0)
    status = td_group_reduce(group, td, number % 2, number / 2, NULL);
  else if (strcmp(name, "all_reduce") == 0)
    status = td_group_all_reduce(group, td, number, NULL);
  else if (strcmp(name, "all_gather") == 0)
    status = gathered(td, result);
  else if (strcmp(name, "scatter") == 0)
    status = td_group_scatter(group, (const td_tensordict *const[]){td, td}, td == NULL ? 0 : 2,
                              number, NULL, &made);
  else if (strcmp(name, "barrier") == 0)
    status = td_group_barrier(group, NULL);
  if (status == TD_OK && strcmp(name, "all_gather") != 0 && strcmp(result, "-") != 0)
    status = written(made == NULL ? td : made, result);
  td_free(made);
  td_free(td);
  return status;
}

int main(int argc, char **argv) {
  static char line[16384];
  if (argc != 3) return 2;
  td_group_options options = TD_GROUP_OPTIONS_INIT;
  options.url = argv[2];
  options.rank = atoi(argv[1]);
  options.world_size = 2;
  options.timeout_ms = 60000;
  other = 1 - options.rank;
  td_status status = td_group_open(&options, &group);
  if (status == TD_ERR_UNSUPPORTED) return 77;
  if (status != TD_OK) {
    fprintf(stderr, "group_peer: %s\n", td_last_error_message());
    return 1;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    char *name = strtok(line, "\t\n"), *folder = strtok(NULL, "\t\n"),
         *result = strtok(NULL, "\t\n"), *number = strtok(NULL, "\t\n");
    if (number == NULL) return 2;
    answer(done(name, folder, result, atoi(number)));
  }
  td_group_free(group);
  return td_debug_live_handles() != 0;
}
