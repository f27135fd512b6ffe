/* A bag of ROS 2 as a data set of Minari. The path of the bag is the argument. */
#include <inttypes.h>

#include "../c/must.h"

/* Copies the entry of a topic's field. */
static void take(const td_tensordict *rows, const char *const *from, size_t from_len,
                 td_tensordict *steps, const char *const *to, size_t to_len) {
  td_tensor *values;
  must(td_get(rows, from, from_len, &values));
  must(td_set(steps, to, to_len, values));
  td_tensor_free(values);
}

int main(int argc, char **argv) {
  /* [open] */
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *bag;
  td_tensordict *rows;
  options.rate = 10; /* rows each second; each takes the newest message of every topic */
  must(td_dataset_open(argc > 1 ? argv[1] : "robot.mcap", &options, &bag));
  must(td_dataset_flat(bag, &rows));
  /* [/open] */

  /* [steps] */
  td_index_item but_last = TD_I_UNTIL(-1), but_first = TD_I_FROM(1);
  td_tensordict *before, *after, *steps; /* what is before a step, and behind it */
  td_tensor *reward;
  int64_t count;
  size_t dims;
  must(td_index(rows, &but_last, 1, &before));
  must(td_index(rows, &but_first, 1, &after));
  must(td_batch_size(before, &count, 1, &dims));
  must(td_create(&count, 1, TD_DEVICE_NONE, -1, &steps));
  take(before, TD_KEY("robot", "joint_states", "position"), steps, TD_KEY("observation", "joints"));
  take(before, TD_KEY("camera", "image", "data"), steps, TD_KEY("observation", "camera"));
  take(after, TD_KEY("robot", "joint_states", "position"), steps,
       TD_KEY("next", "observation", "joints"));
  take(after, TD_KEY("camera", "image", "data"), steps, TD_KEY("next", "observation", "camera"));
  take(before, TD_KEY("cmd_vel", "linear", "x"), steps, TD_KEY("action"));
  must(td_tensor_zeros(TD_SIZES(count), TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, &reward));
  must(td_set(steps, TD_KEY("next", "reward"), reward)); /* yours */
  must(td_dataset_save(steps, NULL, TD_DATASET_KIND_MINARI, "driven-v0", NULL));
  /* [/steps] */
  printf("driven-v0 has %" PRId64 " steps\n", count);

  td_tensor_free(reward);
  td_free(steps);
  td_free(after);
  td_free(before);
  td_free(rows);
  td_dataset_free(bag);
  return EXIT_SUCCESS;
}
