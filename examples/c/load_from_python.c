/* Opens a folder that Python's tensordict has saved, prints it, takes a minibatch and counts.
 * Usage: load_from_python FOLDER, where FOLDER is the data set "digits" of the tests. */
#include "must.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: load_from_python FOLDER\n");
    return EXIT_FAILURE;
  }

  /* [load] */
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1; /* whatever is written here stays here */
  td_tensordict *digits;
  must(td_memmap_load(argv[1], &options, &digits));
  /* [/load] */

  /* [print] */
  char text[2000];
  size_t length;
  must(td_to_string(digits, text, sizeof text, &length));
  printf("%s\n", text);
  must(td_get_non_tensor_json(digits, TD_KEY("source"), text, sizeof text, &length));
  printf("source: %s\n", text);
  /* [/print] */

  /* [minibatch] */
  int64_t positions[16];
  for (int i = 0; i < 16; i++) positions[i] = (int64_t)i * 611 % 1797;
  td_tensor *some, *label;
  must(td_tensor_from_data(positions, sizeof positions, (const int64_t[]){16}, 1, TD_DTYPE_INT64,
                           &some));
  const td_index_item at[] = {TD_I_TENSOR(some)};
  td_tensordict *batch;
  must(td_index(digits, at, 1, &batch)); /* digits[some] */
  must(td_get(batch, TD_KEY("label"), &label));
  int64_t labels[16];
  must(td_tensor_copy_to(label, labels, sizeof labels));
  printf("minibatch:");
  for (int i = 0; i < 16; i++) printf(" %lld", (long long)labels[i]);
  printf("\n");
  td_tensor_free(label);
  /* [/minibatch] */

  /* [count] */
  static int64_t all[1797];
  int counts[10] = {0};
  must(td_get(digits, TD_KEY("label"), &label));
  must(td_tensor_copy_to(label, all, sizeof all));
  for (int i = 0; i < 1797; i++) counts[all[i] % 10]++;
  printf("all:");
  for (int digit = 0; digit < 10; digit++) printf(" %dx%d", counts[digit], digit);
  printf("\n");
  /* [/count] */

  td_tensor_free(label);
  td_tensor_free(some);
  td_free(batch);
  td_free(digits);
  return EXIT_SUCCESS;
}
