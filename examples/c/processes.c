/* A dictionary in two processes: the same memory in both, and a message from one to the other. */
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "show.h"

static td_tensordict *data(void) {
  const float values[] = {1, 2, 3};
  td_tensordict *td;
  td_tensor *x;
  must(td_create((const int64_t[]){3}, 1, TD_DEVICE_NONE, -1, &td));
  must(td_tensor_from_data(values, sizeof values, (const int64_t[]){3}, 1, TD_DTYPE_FLOAT32, &x));
  must(td_set(td, TD_KEY("x"), x));
  td_tensor_free(x);
  return td;
}

/* [open] */
/* In the other process: the name came through a pipe, an argument, or as here by being its child. */
static void write_there(const char *name) {
  td_tensordict *td;
  td_tensor *ten;
  const float value = 10;
  must(td_shared_open(name, &td));
  must(td_tensor_from_data(&value, sizeof value, NULL, 0, TD_DTYPE_FLOAT32, &ten));
  must(td_fill_at(td, (const td_index_item[]){TD_I_INT(0)}, 1, ten)); /* td[0] = 10 */
  td_tensor_free(ten);
  td_free(td);
}
/* [/open] */

static void send_there(int line) {
  td_tensordict *td = data();
  /* [send] */
  td_message_options options = TD_MESSAGE_OPTIONS_INIT;
  options.timeout_ms = 60000;
  must(td_send_fd(td, line, &options));
  /* [/send] */
  td_free(td);
}

int main(void) {
  int lines[2];
  char name[128];
  size_t length;
  td_tensordict *td = data();
  /* [share] */
  must(td_share_memory(td));
  must(td_shared_name(td, name, sizeof name, &length));
  /* [/share] */
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, lines) != 0) return EXIT_FAILURE;
  const pid_t other = fork();
  if (other == 0) {
    write_there(name);
    send_there(lines[1]);
    _exit(EXIT_SUCCESS);
  }
  close(lines[1]);

  /* [receive] */
  td_tensordict *message;
  td_message_options options = TD_MESSAGE_OPTIONS_INIT;
  options.max_bytes = 1 << 20; /* of a partner that is not trusted */
  options.timeout_ms = 60000;
  must(td_recv_fd(lines[0], NULL, &options, &message));
  show("message", message);
  /* [/receive] */
  if (waitpid(other, NULL, 0) != other) return EXIT_FAILURE;
  show("shared", td);
  td_free(message);
  td_free(td);
  close(lines[0]);
  return EXIT_SUCCESS;
}
