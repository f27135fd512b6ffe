/* A data set of another library: what it holds, one episode, rows of all. The path of one of Minari is the argument. */
#include <inttypes.h>

#include "must.h"

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "cartpole/random-v0";
  char text[2048];
  size_t length;
  /* [open] */
  td_dataset *set;
  int64_t episodes, steps;
  must(td_dataset_open(path, NULL, &set)); /* what kind it is, is found by looking */
  must(td_dataset_about(set, NULL, &episodes, &steps));

  td_tensordict *structure; /* no rows; the keys, dtypes and sizes of a step */
  must(td_dataset_structure(set, &structure));
  must(td_to_string(structure, text, sizeof text, &length));
  /* [/open] */
  printf("%" PRId64 " episodes, %" PRId64 " steps\n", episodes, steps);
  printf("%s\n", text);
  td_free(structure);

  int64_t sizes[1];
  size_t dims;
  /* [read] */
  td_tensordict *episode, *rows;
  must(td_dataset_episode(set, 4, &episode)); /* reads nothing else */
  must(td_dataset_rows(set, 20, 32, &rows));  /* steps 20 to 51 of all episodes */
  /* [/read] */
  must(td_batch_size(episode, sizes, 1, &dims));
  printf("episode 4 has %" PRId64 " steps\n", sizes[0]);
  td_free(episode);
  td_free(rows);

  /* [batches] */
  td_loader_options batches = TD_LOADER_OPTIONS_INIT;
  td_loader *loader;
  batches.rows = 32;
  batches.flags = TD_LOADER_SHUFFLE;
  batches.num_workers = 2;
  must(td_loader_create_from_dataset(set, &batches, &loader));
  must(td_loader_next(loader, &rows));
  /* [/batches] */
  td_free(rows);
  td_loader_free(loader);

  /* [metadata] */
  td_tensordict *about;
  must(td_dataset_metadata(set, &about));
  must(td_get_text(about, TD_KEY("algorithm_name"), text, sizeof text, &length));
  /* [/metadata] */
  printf("recorded by %s\n", text);
  td_free(about);

  /* [convert] */
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  options.deflate = 4;
  must(td_dataset_convert(set, TD_DATASET_KIND_ROBOMIMIC, "demos.hdf5", &options));
  /* [/convert] */
  /* [record] */
  td_dataset_writer *writer;
  options.flags = TD_DATASET_SAVE_RESUME; /* goes on with the set, if there is one */
  must(td_dataset_writer_open("mine-v0", TD_DATASET_KIND_MINARI, NULL, &options, &writer));
  for (int64_t i = 0; i < 3; i++) {
    td_tensordict *steps;
    must(td_dataset_episode(set, i, &steps));         /* or what your program has played */
    must(td_dataset_writer_add(writer, steps, NULL)); /* whatever happens now, it is in the set */
    td_free(steps);
  }
  must(td_dataset_writer_close(writer));
  td_dataset_writer_free(writer);
  /* [/record] */
  td_dataset_free(set);
  must(td_dataset_open("demos.hdf5", NULL, &set));
  must(td_dataset_about(set, NULL, &episodes, &steps));
  printf("for robomimic: %" PRId64 " episodes, %" PRId64 " steps\n", episodes, steps);
  td_dataset_free(set);
  return 0;
}
