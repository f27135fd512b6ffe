/* Commands that change a dictionary where it lies. */
#ifndef TDTOOL_EDIT_H
#define TDTOOL_EDIT_H

#include "tdtool.h"

typedef struct edit {
  const char *path, *out;
  form as;
  td_tensordict *td; /* to be changed */
} edit;
/* Opens PATH. Ends the program if the result could not be saved. */
edit edit_begin(const char *path);
int edit_finish(edit *of, const char *label);

#endif
