#ifndef TDTOOL_PIP_H
#define TDTOOL_PIP_H

#include "plain.h"

/* If `torch-version` beside tdtool-main names a version of libtorch, sets LD_LIBRARY_PATH for the torch of that version that
 * pip has installed beside this program, whose folder is `here`, with a slash; ends with a message if there is no such torch. */
void find_pip_torch(const char *main_program, const char *here);

#endif
