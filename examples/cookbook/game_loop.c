/* Inside a game loop: recording must neither stop a frame nor the game. */
#include <inttypes.h>

#include "../c/must.h"

/* [recorder] */
typedef struct recorder {
  td_writer *writer; /* NULL: off */
  int32_t position, buttons;
} recorder;

/* What fails turns recording off; the game goes on. */
static void check(recorder *to, td_status status) {
  if (status == TD_OK || !to->writer) return;
  fprintf(stderr, "recording is off: %s\n", td_last_error_message());
  td_writer_free(to->writer);
  to->writer = NULL;
}

static void start(recorder *to, const char *folder) { /* while the level loads: this may wait */
  td_tensordict *like;
  must(td_create(TD_SIZES(1), TD_DEVICE_NONE, -1, &like));
  must(td_set_data(like, TD_KEY("position"), (float[3]){0}, 12, TD_SIZES(1, 3), TD_DTYPE_FLOAT32));
  must(td_set_data(like, TD_KEY("buttons"), (uint8_t[8]){0}, 8, TD_SIZES(1, 8), TD_DTYPE_UINT8));
  if (td_writer_open_append(folder, like, NULL, &to->writer) != TD_OK)
    fprintf(stderr, "no recording: %s\n", td_last_error_message()); /* writer is NULL */
  if (to->writer) check(to, td_writer_bind(to->writer, TD_KEY("position"), &to->position));
  if (to->writer) check(to, td_writer_bind(to->writer, TD_KEY("buttons"), &to->buttons));
  td_free(like);
}

static void frame(recorder *to, const float position[3], const uint8_t buttons[8]) {
  if (to->writer) check(to, td_writer_put(to->writer, to->position, position, 12));
  if (to->writer) check(to, td_writer_put(to->writer, to->buttons, buttons, 8));
  if (to->writer) check(to, td_writer_next(to->writer)); /* a thread takes it to the disk */
}

static void stop(recorder *to) { /* when the level ends: waits for the disk */
  if (to->writer) check(to, td_writer_close(to->writer));
  td_writer_free(to->writer);
}
/* [/recorder] */

int main(void) {
  recorder good = {0}, bad = {0};
  int64_t rows;
  start(&good, "level-1");
  start(&bad, "/dev/null/level-1"); /* cannot be: the game does not mind */
  for (int tick = 0; tick < 600; tick++) {
    const float position[3] = {(float)tick, 0, 1};
    const uint8_t buttons[8] = {(uint8_t)(tick % 2)};
    frame(&good, position, buttons);
    frame(&bad, position, buttons);
  }
  stop(&good);
  stop(&bad);
  must(td_memmap_length("level-1", &rows, NULL, NULL));
  printf("%" PRId64 " frames\n", rows);
  return EXIT_SUCCESS;
}
