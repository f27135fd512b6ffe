/* Images and a text for each step, in chunks; one text for the whole recording. */
#include <inttypes.h>
#include <string.h>

#include "../c/must.h"

enum { CHUNK = 4, HEIGHT = 32, WIDTH = 48 };

/* [chunk] */
static td_tensordict *chunk(int first) {
  static unsigned char pixels[CHUNK][HEIGHT][WIDTH][3];
  char texts[CHUNK][32];
  const char *captions[CHUNK];
  td_tensordict *td;
  must(td_create(TD_SIZES(CHUNK), TD_DEVICE_NONE, -1, &td));
  for (int i = 0; i < CHUNK; i++) {
    memset(pixels[i], first + i, sizeof pixels[i]); /* your camera */
    snprintf(texts[i], sizeof texts[i], "frame %d", first + i);
    captions[i] = texts[i];
  }
  must(td_set_data(td, TD_KEY("image"), pixels, sizeof pixels, TD_SIZES(CHUNK, HEIGHT, WIDTH, 3),
                   TD_DTYPE_UINT8));
  must(td_set_texts(td, TD_KEY("caption"), captions, CHUNK));   /* one for each row */
  must(td_set_text(td, TD_KEY("task"), "stack the red cubes")); /* one for all of them */
  return td;
}
/* [/chunk] */

int main(void) {
  /* [record] */
  for (int first = 0; first < 3 * CHUNK; first += CHUNK) {
    td_tensordict *rows = chunk(first);
    must(td_memmap_append("frames", rows, NULL)); /* the first chunk makes the folder */
    td_free(rows);
  }
  /* [/record] */

  /* [read] */
  td_tensordict *all, *row;
  unsigned char image[HEIGHT][WIDTH][3];
  char caption[32], task[32];
  size_t length;
  must(td_memmap_load("frames", NULL, &all)); /* mapped: no image is read yet */
  must(td_index(all, (const td_index_item[]){TD_I_INT(9)}, 1, &row));
  must(td_get_data(row, TD_KEY("image"), TD_DTYPE_UINT8, image, sizeof image));
  must(td_get_row_text(all, TD_KEY("caption"), 9, caption, sizeof caption, &length));
  must(td_get_text(all, TD_KEY("task"), task, sizeof task, &length));
  /* [/read] */
  printf("%s has the colour %d; %s\n", caption, image[0][0][0], task);
  td_free(row);
  td_free(all);
  return EXIT_SUCCESS;
}
