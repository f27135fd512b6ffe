/* td_files.h: files and folders of tests. A failing call ends the test. */
#ifndef TD_FILES_H
#define TD_FILES_H

#include "td_test.h"

/* `folder`/`name`; valid until the eighth call from here. */
const char *td_path(const char *folder, const char *name);

/* A file or folder of that name in the folder of this test. */
#define td_here(name) td_path(td_test_folder(), (name))

/* Where the golden folders lie: TD_TEST_DATA of the environment, then `golden/name`. */
const char *td_golden(const char *name);

void td_write_file(const char *path, const void *bytes, size_t size);
void td_write_text(const char *path, const char *text);

/* The bytes of a file and a NUL; free() them. */
char *td_read_file(const char *path, size_t *size);

int td_exists(const char *path);

/* Bytes of a file; -1 when there is none. */
int64_t td_file_size(const char *path);

void td_make_folder(const char *path);
void td_copy_tree(const char *from, const char *to);

/* How many files and folders lie below a folder. */
int td_count_entries(const char *path);

/* The text of a dictionary's meta.json with its tensors first, as a dictionary that was loaded has its entries; free() it. */
char *td_loaded_order(const char *meta);

/* Every file below `want` must lie below `got` with the same bytes, and no other. The entries of a meta.json may have
 * the order of a dictionary that was loaded. */
void td_check_same_tree(const char *file, int line, const char *got, const char *want);
#define TD_CHECK_SAME_TREE(got, want) td_check_same_tree(__FILE__, __LINE__, (got), (want))

#endif
