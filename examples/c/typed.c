/* Typed tensorclasses: fields declared as data, and checked from then on. */
#include "must.h"

/* [type] */
static const int64_t image_sizes[] = {3, -1, -1}; /* behind the batch size; -1 is any */
static const td_field fields[] = {
    {.name = "image",
     .dtype = TD_DTYPE_FLOAT32,
     .flags = TD_FIELD_HAS_FEATURE,
     .feature = image_sizes,
     .feature_dims = 3},
    {.name = "mask", .dtype = TD_DTYPE_BOOL},
    {.name = "label", .dtype = TD_DTYPE_INT64, .flags = TD_FIELD_OPTIONAL},
};
/* [/type] */

static td_tensor *zeros(td_dtype dtype, const int64_t *sizes, size_t dims) {
  td_tensor *tensor;
  must(td_tensor_zeros(sizes, dims, dtype, TD_DEVICE_CPU, -1, &tensor));
  return tensor;
}

static void put(td_tensordict *td, const char *name, td_tensor *tensor) {
  must(td_set(td, TD_KEY(name), tensor));
  td_tensor_free(tensor);
}

int main(void) {
  const int64_t sizes[] = {100, 3, 4, 4}, mask_sizes[] = {100, 1, 4, 4};
  char text[1024];
  size_t length;

  /* [use] */
  td_tensorclass *type;
  td_tensordict *data, *part;
  must(td_tensorclass_create("MyData", fields, 3, NULL, &type));
  must(td_create(sizes, 1, TD_DEVICE_NONE, -1, &data));
  put(data, "image", zeros(TD_DTYPE_FLOAT32, sizes, 4));
  put(data, "mask", zeros(TD_DTYPE_BOOL, mask_sizes, 4));
  must(td_set_tensorclass(data, type)); /* from here on it is a MyData, and so are its parts */

  const td_index_item first_ten[] = {TD_I_UNTIL(10)};
  must(td_index(data, first_ten, 1, &part));
  must(td_to_string(part, text, sizeof text, &length));
  puts(text);
  /* [/use] */

  td_tensor *label = zeros(TD_DTYPE_FLOAT32, sizes, 1);
  if (td_set(data, TD_KEY("label"), label) == TD_ERR_DTYPE) puts(td_last_error_message());
  if (td_set(data, TD_KEY("lable"), label) == TD_ERR_KEY_INVALID) puts(td_last_error_message());
  td_tensor_free(label);
  td_free(part);
  td_free(data);
  td_tensorclass_free(type);
  return td_debug_live_handles() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
