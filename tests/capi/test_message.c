/* Messages: through functions, pipes and sockets, between processes, into dictionaries that are there,
 * and such that nobody should have sent. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "td_files.h"
#include "td_process.h"
#include "td_values.h"

/* Bytes in memory: what was written, read again from the front. */
typedef struct mailbox {
  char *bytes;
  size_t size, read;
  int fail_at; /* the call that fails, from 1 */
  int calls;
  td_status status;
} mailbox;

static td_status put(void *user, const void *data, size_t bytes) {
  mailbox *box = user;
  if (++box->calls == box->fail_at) {
    td_set_error(box->status, "the line is dead");
    return box->status;
  }
  box->bytes = realloc(box->bytes, box->size + bytes);
  memcpy(box->bytes + box->size, data, bytes);
  box->size += bytes;
  return TD_OK;
}

static td_status take(void *user, void *data, size_t bytes) {
  mailbox *box = user;
  if (++box->calls == box->fail_at) return box->status;
  if (bytes > box->size - box->read) {
    td_set_error(-10001, "no more bytes");
    return -10001;
  }
  memcpy(data, box->bytes + box->read, bytes);
  box->read += bytes;
  return TD_OK;
}

/* Numbers from `first` on, more than fit the system's buffers. */
static td_tensor *large(int64_t first, const int64_t *sizes, size_t dims) {
  size_t count = 1;
  for (size_t i = 0; i < dims; i++) count *= (size_t)sizes[i];
  float *numbers = malloc(count * sizeof *numbers);
  td_tensor *tensor = NULL;
  for (size_t i = 0; i < count; i++) numbers[i] = (float)(first + (int64_t)i);
  TD_DO(td_tensor_from_data(numbers, count * sizeof *numbers, sizes, dims, TD_DTYPE_FLOAT32,
                            &tensor));
  free(numbers);
  return tensor;
}

static mailbox filled(const td_tensordict *td) {
  mailbox box = {0};
  TD_DO(td_send(td, NULL, put, &box));
  return box;
}

TD_TEST(the_receiver_needs_nothing) {
  td_tensordict *td = td_sample(), *got = NULL, *across = NULL;
  mailbox box = filled(td);
  TD_DO(td_permute(td, TD_SIZES(1, 0), &across));
  TD_DO(td_send(across, NULL, put,
                &box)); /* tensors that are not row-major; one message after the other */
  TD_DO(td_recv(NULL, NULL, take, &box, &got));
  TD_CHECK_EQUAL(td, got);
  TD_CHECK_FLAG(td_is_locked, got, 0);
  td_put(got, TD_KEY("new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  td_free(got);
  TD_DO(td_recv(NULL, NULL, take, &box, &got));
  TD_CHECK_EQUAL(across, got);
  TD_CHECK_INT(box.read, box.size);
  td_free(across);
  td_free(td);
  free(box.bytes);
}

TD_TEST(values_locks_and_empty_ones) {
  td_tensordict *td = NULL, *got = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  TD_DO(td_memmap_load(td_golden("nontensor"), &options, &td));
  TD_DO(td_lock(td));
  mailbox box = filled(td);
  TD_DO(td_recv(NULL, NULL, take, &box, &got));
  TD_CHECK_EQUAL(td, got);
  TD_CHECK_FLAG(td_is_locked, got, 1);
  td_free(td);
  td = td_empty(TD_SIZES(5, 0));
  TD_DO(td_send(td, NULL, put, &box));
  TD_DO(td_recv(NULL, NULL, take, &box, &got));
  TD_CHECK_BATCH(got, 5, 0);
  td_free(td);
  free(box.bytes);
}

TD_TEST(into_a_dictionary_that_is_there) {
  td_tensordict *td = td_sample(), *target = NULL, *got = NULL, *n = NULL;
  td_tensor *zero = td_filled(TD_DTYPE_INT64, 0, TD_NO_SIZES);
  TD_DO(td_clone(td, 0, &target));
  TD_DO(td_fill_at(target, TD_AT(TD_I_ELLIPSIS), zero));
  TD_DO(td_lock(target));
  td_tensor *b = td_take(target, TD_KEY("n", "b"));
  mailbox box = filled(td);
  TD_DO(td_recv(target, NULL, take, &box, &got));
  TD_CHECK(td_is_same_dict(got, target));
  TD_CHECK_VALUES(b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  TD_CHECK_EQUAL(td, target);

  n = td_take_dict(td, TD_KEY("n")); /* other keys, shapes and dtypes */
  TD_DO(td_send(n, NULL, put, &box));
  TD_EXPECT_NULL(td_recv(target, NULL, take, &box, &got), TD_ERR_KEY_NOT_FOUND, got);
  td_tensordict *part = NULL, *wide = NULL;
  TD_DO(td_index(td, TD_AT(TD_I_FROM(1)), &part));
  TD_DO(td_send(part, NULL, put, &box));
  TD_EXPECT_NULL(td_recv(target, NULL, take, &box, &got), TD_ERR_SHAPE, got);
  TD_DO(td_to_dtype(td, TD_DTYPE_FLOAT64, &wide));
  TD_DO(td_send(wide, NULL, put, &box));
  TD_EXPECT_NULL(td_recv(target, NULL, take, &box, &got), TD_ERR_DTYPE, got);
  TD_CHECK_EQUAL(td, target);
  TD_CHECK_INT(box.read, box.size); /* all was taken: the next message can be read */
  free(box.bytes);
}

TD_TEST(failures_of_the_callers_functions) {
  td_tensordict *td = td_sample(), *got;
  mailbox box = {0};
  box.fail_at = 2;
  box.status = -20000;
  TD_EXPECT(td_send(td, NULL, put, &box), -20000);
  TD_CHECK_TEXT(td_last_error_message(), "the line is dead");
  free(box.bytes);
  box = filled(td);
  const int calls = box.calls;
  for (int i = 1; i <= calls; i++) {
    box.calls = 0;
    box.read = 0;
    box.fail_at = i;
    box.status = TD_ERR_LOCKED;
    if (i <= 3) TD_EXPECT_NULL(td_recv(NULL, NULL, take, &box, &got), TD_ERR_LOCKED, got);
  }
  box.fail_at = 0;
  for (size_t size = 0; size < box.size; size += 5) { /* it ends too early */
    mailbox cut = {box.bytes, size, 0, 0, 0, 0};
    TD_EXPECT_NULL(td_recv(NULL, NULL, take, &cut, &got), -10001, got);
  }
  TD_EXPECT(td_send(td, NULL, NULL, NULL), TD_ERR_NULL_ARGUMENT);
  TD_EXPECT_NULL(td_recv(NULL, NULL, NULL, NULL, &got), TD_ERR_NULL_ARGUMENT, got);
  free(box.bytes);
}

TD_TEST(messages_that_cannot_be_trusted) {
  td_tensordict *td = td_sample(), *got;
  td_message_options options = TD_MESSAGE_OPTIONS_INIT;
  mailbox box = filled(td);
  char *good = malloc(box.size);
  memcpy(good, box.bytes, box.size);
  static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX / 2, (uint64_t)1 << 40,
                                   (uint64_t)1 << 31};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (size_t at = 8; at <= 16; at += 8) {
      memcpy(box.bytes, good, box.size);
      memcpy(box.bytes + at, &sizes[i], 8);
      box.read = 0;
      TD_EXPECT_NULL(td_recv(NULL, NULL, take, &box, &got), TD_ERR_CAPACITY, got);
    }
  }
  const uint64_t more = 4096; /* than the tensors take */
  memcpy(box.bytes, good, box.size);
  memcpy(box.bytes + 16, &more, 8);
  box.read = 0;
  TD_EXPECT_NULL(td_recv(NULL, NULL, take, &box, &got), TD_ERR_FORMAT, got);
  memcpy(box.bytes, good, box.size);
  box.bytes[0] = 'X';
  box.read = 0;
  TD_EXPECT_NULL(td_recv(NULL, NULL, take, &box, &got), TD_ERR_FORMAT, got);
  memcpy(box.bytes, good, box.size);
  for (size_t at = 24; at < box.size - 200; at++) { /* one wrong byte in the text */
    box.bytes[at] = (char)(good[at] ^ 0x15);
    box.read = 0;
    const td_status status = td_recv(NULL, NULL, take, &box, &got);
    TD_CHECK((status == TD_OK) == (got != NULL));
    td_free(got);
    box.bytes[at] = good[at];
  }
  box.read = 0;
  options.max_bytes = box.size - 25;
  TD_EXPECT_NULL(td_recv(NULL, &options, take, &box, &got), TD_ERR_CAPACITY, got);
  options.max_bytes = box.size - 24;
  box.read = 0;
  TD_DO(td_recv(NULL, &options, take, &box, &got));
  options.max_entries = 2;
  box.read = 0;
  TD_EXPECT_NULL(td_recv(NULL, &options, take, &box, &got), TD_ERR_FORMAT, got);
  free(good);
  free(box.bytes);
}

/* Sends back what it gets, twice as much of it. */
TD_TEST(child_echoes) {
  const int line = atoi(td_role());
  td_message_options options = TD_MESSAGE_OPTIONS_INIT;
  options.timeout_ms = 200000;
  for (int i = 0; i < 3; i++) {
    td_tensordict *td = NULL, *both = NULL;
    TD_DO(td_recv_fd(line, NULL, &options, &td));
    TD_DO(td_cat((const td_tensordict *const[]){td, td}, 2, 0, &both));
    TD_DO(td_send_fd(both, line, &options));
  }
}

TD_TEST(two_processes_over_a_socket) {
  int ends[2];
  char number[16];
  td_message_options options = TD_MESSAGE_OPTIONS_INIT;
  options.timeout_ms = 200000;
  TD_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  snprintf(number, sizeof number, "%d", ends[1]);
  const int child = td_spawn("child_echoes", number);
  close(ends[1]);
  for (int i = 0; i < 3; i++) {
    td_tensordict *td = td_empty(TD_SIZES(4)), *got = NULL, *half = NULL;
    const int64_t length = i == 0 ? 1 : 300000; /* far beyond the buffers of the system */
    td_put(td, TD_KEY("x"), large(i, TD_SIZES(4, length)));
    td_put(td, TD_KEY("n", "y"), td_arange(TD_DTYPE_INT16, i, TD_SIZES(4)));
    /* The last one does not wait in the system's calls. */
    if (i == 2) TD_CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    TD_DO(td_send_fd(td, ends[0], i == 1 ? NULL : &options));
    TD_DO(td_recv_fd(ends[0], NULL, i == 1 ? NULL : &options, &got));
    TD_CHECK_BATCH(got, 8);
    TD_DO(td_index(got, TD_AT(TD_I_FROM(4)), &half));
    TD_CHECK_EQUAL(half, td);
  }
  close(ends[0]);
  TD_CHECK(td_join(child));
}

static volatile sig_atomic_t alarms;
static void on_alarm(int number) {
  (void)number;
  alarms++;
}

/* Reads slowly, and by few bytes. */
TD_TEST(child_reads_slowly) {
  const int line = atoi(td_role());
  const struct timespec pause = {0, 100000};
  char byte[997];
  size_t all = 0;
  for (ssize_t n; (n = read(line, byte, sizeof byte)) > 0;) {
    all += (size_t)n;
    if (all < 200000) nanosleep(&pause, NULL);
  }
  TD_CHECK(all > 1200000);
}

TD_TEST(a_pipe_and_interruptions) {
  int ends[2];
  char number[16];
  struct sigaction act, before;
  const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  td_message_options options = TD_MESSAGE_OPTIONS_INIT;
  memset(&act, 0, sizeof act);
  act.sa_handler = on_alarm; /* without SA_RESTART: calls come back with EINTR */
  TD_CHECK(pipe(ends) == 0);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  snprintf(number, sizeof number, "%d", ends[0]);
  const int child = td_spawn("child_reads_slowly", number);
  close(ends[0]);
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("x"), large(0, TD_SIZES(150000)));
  TD_CHECK(sigaction(SIGALRM, &act, &before) == 0);
  setitimer(ITIMER_REAL, &often, NULL);
  options.timeout_ms = 300000;
  TD_DO(td_send_fd(td, ends[1], NULL));
  TD_DO(td_send_fd(td, ends[1], &options));
  setitimer(ITIMER_REAL, &never, NULL);
  sigaction(SIGALRM, &before, NULL);
  close(ends[1]);
  TD_CHECK(td_join(child));
  TD_CHECK(alarms > 0);
}

TD_TEST(a_partner_that_has_gone_is_an_error) {
  int ends[2];
  td_tensordict *td = td_sample(), *got;
  TD_CHECK(pipe(ends) == 0);
  close(ends[0]);
  TD_EXPECT(td_send_fd(td, ends[1], NULL), TD_ERR_IO); /* and no SIGPIPE */
  sigset_t pending;
  sigpending(&pending);
  TD_CHECK_INT(sigismember(&pending, SIGPIPE), 0);
  close(ends[1]);
  TD_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  close(ends[0]);
  TD_EXPECT(td_send_fd(td, ends[1], NULL), TD_ERR_IO);
  TD_EXPECT_NULL(td_recv_fd(ends[1], NULL, NULL, &got), TD_ERR_IO, got);
  close(ends[1]);
  TD_EXPECT_NULL(td_recv_fd(ends[1], NULL, NULL, &got), TD_ERR_IO, got); /* closed */
  TD_EXPECT(td_send_fd(td, -1, NULL), TD_ERR_IO);
  TD_CHECK(pipe(ends) == 0);
  TD_CHECK(write(ends[1], "TDMSG1\r\n\1\0\0", 11) == 11);
  close(ends[1]);
  TD_EXPECT_NULL(td_recv_fd(ends[0], NULL, NULL, &got), TD_ERR_IO, got);
  TD_CHECK_TEXT(td_last_error_message(), "too early");
  close(ends[0]);
}

TD_TEST(the_time_is_limited) {
  int ends[2];
  td_tensordict *td = td_empty(TD_NO_SIZES), *got;
  td_message_options options = TD_MESSAGE_OPTIONS_INIT;
  options.timeout_ms = 30;
  td_put(td, TD_KEY("x"), large(0, TD_SIZES(500000)));
  TD_CHECK(pipe(ends) == 0);
  TD_EXPECT_NULL(td_recv_fd(ends[0], NULL, &options, &got), TD_ERR_IO, got);
  TD_CHECK_TEXT(td_last_error_message(), "timed out");
  TD_EXPECT(td_send_fd(td, ends[1], &options), TD_ERR_IO); /* nobody reads */
  TD_CHECK_TEXT(td_last_error_message(), "timed out");
  close(ends[0]);
  close(ends[1]);
  TD_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  TD_EXPECT(td_send_fd(td, ends[1], &options), TD_ERR_IO);
  close(ends[0]);
  close(ends[1]);
}

/* A file holds messages as well as a line carries them. */
TD_TEST(through_a_file) {
  td_tensordict *td = td_sample(), *got = NULL;
  const int file = open(td_path(td_test_folder(), "f"), O_RDWR | O_CREAT, 0600);
  TD_CHECK(file >= 0);
  TD_DO(td_send_fd(td, file, NULL));
  TD_CHECK(lseek(file, 0, SEEK_SET) == 0);
  TD_DO(td_recv_fd(file, NULL, NULL, &got));
  TD_CHECK_EQUAL(td, got);
  close(file);
}

TD_TEST(lazy_stacks_go_through_and_take_values) {
  td_tensordict *one = td_sample(), *other = td_sample(), *stack = NULL, *got = NULL;
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 9, TD_SIZES(4, 3));
  td_put(other, TD_KEY("only"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, other}, 2, 1, &stack));
  mailbox box = filled(stack);
  TD_DO(td_recv(NULL, NULL, take, &box, &got));
  TD_CHECK_EQUAL(stack, got);
  TD_CHECK_BATCH(got, 4, 2, 3);
  TD_DO(td_set_inplace(one, TD_KEY("n", "b"), nine));
  box.read = 0;
  TD_DO(td_recv(stack, NULL, take, &box, &got)); /* into the elements */
  TD_CHECK_ENTRY(one, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  free(box.bytes);
}

TD_TEST(a_sub_tensordict_takes_a_message) {
  td_tensordict *td = td_sample(), *sub_tensordict = NULL, *zeros = NULL, *got = NULL;
  td_tensor *zero = td_filled(TD_DTYPE_INT64, 0, TD_NO_SIZES);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_FROM(2)), &sub_tensordict));
  TD_DO(td_clone(sub_tensordict, 0, &zeros));
  TD_DO(td_fill_at(zeros, TD_AT(TD_I_ELLIPSIS), zero));
  mailbox box = filled(zeros);
  TD_DO(td_recv(sub_tensordict, NULL, take, &box, &got));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0));
  box.size = 0;
  box.read = 0;
  TD_DO(td_send(sub_tensordict, NULL, put, &box)); /* and is sent as a dictionary */
  TD_DO(td_recv(NULL, NULL, take, &box, &got));
  TD_CHECK_EQUAL(got, zeros);
  free(box.bytes);
}
