/* td_dataset_files.h: what the tests of data sets in tables share. */
#ifndef TD_DATASET_FILES_H
#define TD_DATASET_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_arrow_files.h"
#include "td_sha256.h"

#define STATE TD_KEY("observation", "state")
#define FRONT TD_KEY("observation", "image", "front")

/* A path that stays when others are made. */
static inline const char *kept(const char *path) {
  static char paths[64][512];
  static int next = 0;
  char *copy = paths[next++ % 64];
  snprintf(copy, sizeof *paths, "%s", path);
  return copy;
}

static inline const char *data_of(const char *name) {
  return kept(td_path(td_golden("../datasets"), name));
}

static inline td_dataset *open_set(const char *path) {
  need_arrow();
  td_dataset *set = NULL;
  TD_DO(td_dataset_open(path, NULL, &set));
  return set;
}

static inline td_tensordict *flat_of(const char *path) {
  td_dataset *set = open_set(path);
  td_tensordict *td = NULL;
  TD_DO(td_dataset_flat(set, &td));
  td_dataset_free(set);
  return td;
}

/* The values of a tensor, hashed as in the manifest of the data sets. */
static inline void check_hash(const td_tensordict *td, const char *const *path, size_t length,
                              const char *want) {
  td_tensor *tensor = td_take(td, path, length);
  size_t bytes = 0;
  char digits[65];
  TD_DO(td_tensor_nbytes(tensor, &bytes));
  char *values = malloc(bytes);
  TD_DO(td_tensor_copy_to(tensor, values, bytes));
  td_sha256(values, bytes, digits);
  free(values);
  td_tensor_free(tensor);
  if (strcmp(digits, want) != 0)
    td_test_fail(__FILE__, __LINE__, "%s has the hash %s, not %s", path[length - 1], digits, want);
}

static inline void check_row_text(const td_tensordict *td, const char *name, int64_t row,
                                  const char *want) {
  char text[64];
  size_t length = 0;
  TD_DO(td_get_row_text(td, TD_KEY(name), row, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

static inline void check_lerobot(const td_tensordict *td) {
  check_hash(td, TD_KEY("frame"),
             "461953a35b0bb266eedd535b496db6df83088205fb026efab3b06ad999fb9412");
  check_hash(td, TD_KEY("episode"),
             "5ad8a9caa133bf83da555d6024356b9a3eda1da6064257c7d7664980b71dcf7f");
  check_hash(td, TD_KEY("index"),
             "8d6386596e4beae87c4c1f35717ed59d15725eff8bd3521b8bb4f8608bc2afdd");
  check_hash(td, TD_KEY("timestamp"),
             "8524fb3c5775cf4e682704b6ff8a56ff728a1497357ef9093ff4e3bc7fdeb64d");
  check_hash(td, TD_KEY("task_index"),
             "b04905cc77768ffcb26634104ee731331946fbf8447fa209297de38bdc26a8da");
  check_row_text(td, "language_instruction", 4, "push the cube");
  check_row_text(td, "language_instruction", 5, "lift the cube");
}

static inline void check_arm(const td_tensordict *td) {
  TD_CHECK_BATCH(td, 14);
  check_lerobot(td);
  check_hash(td, STATE, "d155616485d3d1fae4f0d63646550bdc4490dff2b4af9b39355489767de8032c");
  check_hash(td, TD_KEY("action"),
             "27a18c3b9da6b882658b9c60b5874fe5bb295eed4d94cedc4a29fbe445dd99a8");
  check_hash(td, TD_KEY("next", "reward"),
             "8af9a14702662234a63d5194392cce55ea9a206e792398fcff7cdcba28820012");
  check_hash(td, TD_KEY("next", "done"),
             "4832d0ff5e2911e760cb049832af43e88a38c3fbca1606c3635aa3ab723be798");
  check_hash(td, TD_KEY("observation", "matrix"),
             "7e47b1e2c4cd9acce867a07ccbacd7795af7eca36f5d49a4c92c80358a2dfd44");
  check_hash(td, TD_KEY("count"),
             "cc7f137c8623deb385d8a04190cb8da74402e8e61a793be135eabadc67b9a7d8");
  check_row_text(td, "note", 1, "n1");
}

static inline void check_json_of(const td_tensordict *td, const char *name, const char *want) {
  char text[512];
  size_t length = 0;
  TD_DO(td_get_non_tensor_json(td, TD_KEY(name), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

#endif
