/* Folders as trees, read without the library. */
#ifndef TDTOOL_LIGHT_H
#define TDTOOL_LIGHT_H

#include "plain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills `of` from the meta.json files of a folder, or of the dictionary at a key inside it; key NULL: the folder.
 * False, with nothing filled and nothing said, for whatever is not plainly right or not common: the library reads that,
 * and says what is wrong. */
bool read_folder(const char *path, const char *key, tree *of);

#ifdef __cplusplus
}
#endif

#endif
