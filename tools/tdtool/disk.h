/* Reads dictionaries with the core's formats, without libtorch. */
#ifndef TDTOOL_DISK_H
#define TDTOOL_DISK_H

#include "plain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a folder, an archive, a safetensors or NumPy file, or the part at a key; key NULL: all. `which` receives the form.
 * The handle is for the functions of disk_abi.cpp. Returns NULL, without a message, for anything damaged or unknown here:
 * the library reads such files, and reports errors. */
td_tensordict *disk_open(const char *path, const char *key, form *which);

#ifdef __cplusplus
}
#endif

#endif
