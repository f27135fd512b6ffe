/* Dictionaries on the disk, read with the formats of the core and without libtorch. */
#ifndef TDTOOL_DISK_H
#define TDTOOL_DISK_H

#include "plain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A folder, an archive, a safetensors file or one of NumPy, or the part at a key inside it; key NULL: all. `which` is what
 * it was. The functions of the library that disk_abi.cpp has read it. NULL, with nothing said, for what is damaged, cut, of
 * another form or with entries that only the library knows: it reads that, and says what is wrong. */
td_tensordict *disk_open(const char *path, const char *key, form *which);

#ifdef __cplusplus
}
#endif

#endif
