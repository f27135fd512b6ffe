/* Tables of Arrow: a dictionary lent as one, and a table of another library taken over. */
#include <inttypes.h>

#include "must.h"

/* Steps: "reward" is [steps], "obs"/"position" is [steps, 3]. */
static td_tensordict *steps(int64_t count) {
  td_tensordict *td;
  td_tensor *tensor;
  must(td_create(TD_SIZES(count), TD_DEVICE_NONE, -1, &td));
  must(td_tensor_zeros(TD_SIZES(count), TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &tensor));
  must(td_set(td, TD_KEY("reward"), tensor));
  td_tensor_free(tensor);
  must(td_tensor_zeros(TD_SIZES(count, 3), TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, &tensor));
  must(td_set(td, TD_KEY("obs", "position"), tensor));
  td_tensor_free(tensor);
  return td;
}

static void lend(const td_tensordict *td, struct ArrowSchema *schema, struct ArrowArray *array) {
  /* [lend] */
  td_to_arrow_options options = TD_TO_ARROW_OPTIONS_INIT;
  options.separator = "."; /* columns "reward" and "obs.position"; without it, "obs" is a struct */
  must(td_to_arrow(td, &options, schema, array));
  /* [/lend] */
  for (int64_t i = 0; i < schema->n_children; i++)
    printf("%s: %s\n", schema->children[i]->name, schema->children[i]->format);
}

static td_tensordict *take(struct ArrowSchema *schema, struct ArrowArray *array) {
  td_tensordict *td;
  /* [take] */
  td_from_arrow_options options = TD_FROM_ARROW_OPTIONS_INIT;
  options.separator = ".";
  options.nulls = TD_ARROW_NULLS_NAN; /* what is missing among numbers of floating point */
  must(td_from_arrow(schema, array, &options, &td)); /* both structs are used up now */
  /* [/take] */
  return td;
}

int main(void) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  td_tensordict *td = steps(100), *again;
  lend(td, &schema, &array);
  td_free(td); /* the table keeps the memory */
  again = take(&schema, &array);
  int64_t rows;
  size_t dims;
  must(td_batch_size(again, &rows, 1, &dims));
  printf("%" PRId64 " rows\n", rows);
  td_free(again);
  return 0;
}
