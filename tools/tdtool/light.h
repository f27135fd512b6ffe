/* Dictionaries on the disk as trees, read without the library. */
#ifndef TDTOOL_LIGHT_H
#define TDTOOL_LIGHT_H

#include "plain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills `of` from a folder, an archive, a safetensors file or one of NumPy, or from the part at a key inside it; key
 * NULL: all. `which` is what it was.
 * False, with nothing filled and nothing said, for whatever is not plainly right or not common: the library reads that,
 * and says what is wrong. */
bool read_light(const char *path, const char *key, tree *of, form *which);

#ifdef __cplusplus
}
#endif

#endif
