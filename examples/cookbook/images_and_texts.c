/* Images and a text for each step, in chunks; one text for the whole recording. */
#include <inttypes.h>
#include <string.h>

#include "../c/must.h"

enum { CHUNK = 4, HEIGHT = 32, WIDTH = 48 };

/* [chunk] */
static td_tensordict *chunk(int first) {
  static unsigned char pixels[CHUNK][HEIGHT][WIDTH][3];
  char texts[256] = "[";
  td_tensordict *td;
  must(td_create(TD_SIZES(CHUNK), TD_DEVICE_NONE, -1, &td));
  for (int i = 0; i < CHUNK; i++) {
    memset(pixels[i], first + i, sizeof pixels[i]); /* your camera */
    snprintf(texts + strlen(texts), sizeof texts - strlen(texts), "%s\"frame %d\"", i ? ", " : "",
             first + i);
  }
  must(td_set_data(td, TD_KEY("image"), pixels, sizeof pixels, TD_SIZES(CHUNK, HEIGHT, WIDTH, 3),
                   TD_DTYPE_UINT8));
  must(td_set_non_tensor_stack_json(td, TD_KEY("caption"), strcat(texts, "]")));
  must(td_set_non_tensor_json(td, TD_KEY("task"), "\"stack the red cubes\""));
  return td;
}
/* [/chunk] */

int main(void) {
  td_tensordict *rows = chunk(0), *stored;
  must(td_memmap(rows, "frames", NULL, &stored)); /* the first chunk makes the folder */
  td_free(stored);
  td_free(rows);
  for (int first = CHUNK; first < 3 * CHUNK; first += CHUNK) {
    rows = chunk(first);
    must(td_memmap_append("frames", rows, NULL));
    td_free(rows);
  }

  /* [read] */
  td_tensordict *all, *row;
  unsigned char image[HEIGHT][WIDTH][3];
  char caption[32], task[32];
  size_t length;
  must(td_memmap_load("frames", NULL, &all)); /* mapped: no image is read yet */
  must(td_index(all, (const td_index_item[]){TD_I_INT(9)}, 1, &row));
  must(td_get_data(row, TD_KEY("image"), TD_DTYPE_UINT8, image, sizeof image));
  must(td_get_non_tensor_json(row, TD_KEY("caption"), caption, sizeof caption, &length));
  must(td_get_non_tensor_json(row, TD_KEY("task"), task, sizeof task, &length));
  /* [/read] */
  printf("%s has the colour %d; %s\n", caption, image[0][0][0], task);
  td_free(row);
  td_free(all);
  return EXIT_SUCCESS;
}
