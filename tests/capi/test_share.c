/* Shared memory: the flag and the lock, tensors that stay themselves, the name, other processes, and
 * what stands behind a name that should not. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "td_process.h"
#include "td_values.h"

static td_tensordict *shared_sample(void) {
  td_tensordict *td = td_sample();
  TD_DO(td_share_memory(td));
  return td;
}

static const char *name_of(const td_tensordict *td) {
  static char name[128];
  size_t length = 0;
  TD_DO(td_shared_name(td, name, sizeof name, &length));
  TD_CHECK_INT(strlen(name), length);
  return name;
}

static void *address(const td_tensordict *td, const char *const *path, size_t path_len) {
  void *data = NULL;
  td_tensor *tensor = td_take(td, path, path_len);
  TD_DO(td_tensor_data(tensor, &data));
  td_tensor_free(tensor);
  return data;
}

/* Adds to one element of "n"."b", which is [4,3]. */
static void write_b(td_tensordict *td, int64_t row, int64_t value) {
  td_tensor *b = td_take(td, TD_KEY("n", "b"));
  void *data = NULL;
  TD_DO(td_tensor_data(b, &data));
  __atomic_store_n((int64_t *)data + 3 * row, value, __ATOMIC_RELEASE);
  td_tensor_free(b);
}

static int64_t read_b(const td_tensordict *td, int64_t row) {
  return __atomic_load_n((int64_t *)address(td, TD_KEY("n", "b")) + 3 * row, __ATOMIC_ACQUIRE);
}

/* Up to a hundred seconds, of a machine that has other work. */
static int wait_for_b(const td_tensordict *td, int64_t row, int64_t value) {
  const struct timespec pause = {0, 1000000};
  for (int i = 0; i < 100000 && read_b(td, row) != value; i++) nanosleep(&pause, NULL);
  return read_b(td, row) == value;
}

TD_TEST(sharing_locks_and_keeps_the_values) {
  td_tensordict *td = td_sample(), *n = td_take_dict(td, TD_KEY("n"));
  TD_CHECK_FLAG(td_is_shared, td, 0);
  TD_DO(td_share_memory(td));
  TD_CHECK_FLAG(td_is_shared, td, 1);
  TD_CHECK_FLAG(td_is_shared, n, 1);
  TD_CHECK_FLAG(td_is_locked, td, 1);
  TD_CHECK_FLAG(td_is_memmap, td, 0);
  TD_CHECK_FLAG(td_is_consolidated, td, 1);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  void *before = address(td, TD_KEY("a"));
  TD_DO(td_share_memory(td)); /* a second time: nothing */
  TD_CHECK(address(td, TD_KEY("a")) == before);
  td_tensor *one = td_filled(TD_DTYPE_INT64, 7, TD_SIZES(4, 3));
  TD_EXPECT(td_set(td, TD_KEY("new"), one), TD_ERR_LOCKED);
  TD_DO(td_set_inplace(td, TD_KEY("n", "b"), one));
  TD_CHECK_INT(read_b(td, 3), 7);
}

TD_TEST(which_results_are_shared) {
  td_tensordict *td = shared_sample(), *result = NULL, *parts[4];
  size_t count = 0;
#define SHARED(call, want)                     \
  TD_DO(call);                                 \
  TD_CHECK_FLAG(td_is_shared, result, (want)); \
  TD_CHECK_FLAG(td_is_locked, result, (want)); \
  td_free(result)
  SHARED(td_view(td, TD_SIZES(12), &result), 1);
  SHARED(td_permute(td, TD_SIZES(1, 0), &result), 1);
  SHARED(td_transpose(td, 0, 1, &result), 1);
  SHARED(td_unsqueeze(td, 0, &result), 1);
  SHARED(td_index(td, TD_AT(TD_I_INT(0)), &result), 1);
  SHARED(td_index(td, TD_AT(TD_I_FROM(1)), &result), 0);
  SHARED(td_clone(td, 0, &result), 0);
  SHARED(td_clone(td, TD_CLONE_SHALLOW, &result), 0);
#undef SHARED
  TD_DO(td_unbind(td, 0, parts, 4, &count));
  for (size_t i = 0; i < count; i++) {
    TD_CHECK_FLAG(td_is_shared, parts[i], 1);
    td_free(parts[i]);
  }
  TD_DO(td_index(td, TD_AT(TD_I_FROM(1)), &result)); /* it shares the memory all the same */
  write_b(td, 2, 55);
  TD_CHECK_INT(read_b(result, 1), 55);
}

TD_TEST(unlocking_drops_the_flag_and_not_the_memory) {
  td_tensordict *td = shared_sample();
  void *before = address(td, TD_KEY("a"));
  size_t length = 0;
  TD_DO(td_unlock(td));
  TD_CHECK_FLAG(td_is_shared, td, 0);
  TD_CHECK(address(td, TD_KEY("a")) == before);
  TD_EXPECT(td_shared_name(td, NULL, 0, &length), TD_ERR_INVALID_ARGUMENT);
  td_put(td, TD_KEY("new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  TD_DO(td_share_memory(td)); /* again, with what is new */
  td_tensordict *other = NULL;
  TD_DO(td_shared_open(name_of(td), &other));
  TD_CHECK_ENTRY(other, TD_KEY("new"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TD_TEST(handles_follow_and_old_addresses_stay_readable) {
  td_tensordict *td = td_sample();
  td_tensor *b = td_take(td, TD_KEY("n", "b"));
  void *old = NULL, *now = NULL;
  TD_DO(td_tensor_data(b, &old));
  TD_DO(td_share_memory(td));
  TD_DO(td_tensor_data(b, &now));
  TD_CHECK(old != now);
  TD_CHECK(now == address(td, TD_KEY("n", "b")));
  TD_CHECK_INT(((int64_t *)old)[11], 11);
  write_b(td, 0, 99);
  TD_CHECK_VALUES(b, 99, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  td_free(td);
  TD_CHECK_VALUES(b, 99, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

TD_TEST(views_and_one_tensor_under_two_keys) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_tensordict *flat = td_empty(TD_SIZES(3, 2)), *across = NULL;
  td_tensor *whole = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3, 2)), *turned = NULL, *row = NULL;
  TD_DO(td_set(flat, TD_KEY("w"), whole));
  TD_DO(td_permute(flat, TD_SIZES(1, 0), &across));
  turned = td_take(across, TD_KEY("w"));
  TD_DO(td_tensor_index(whole, TD_AT(TD_I_INT(1)), &row));
  TD_DO(td_set(td, TD_KEY("x"), row));
  TD_DO(td_set(td, TD_KEY("y"), row));
  TD_DO(td_set(td, TD_KEY("t"), turned));
  TD_DO(td_share_memory(td));
  TD_CHECK(address(td, TD_KEY("x")) == address(td, TD_KEY("y")));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(2, 3));
  TD_CHECK_ENTRY(td, TD_KEY("t"), TD_SIZES(2, 3), TD_VALUES(0, 2, 4, 1, 3, 5));
  TD_CHECK_VALUES(whole, 0, 1, 2, 3, 4, 5);
  td_tensordict *other = NULL;
  TD_DO(td_shared_open(name_of(td), &other));
  TD_CHECK_ENTRY(other, TD_KEY("y"), TD_SIZES(2), TD_VALUES(2, 3));
}

TD_TEST(what_cannot_be_shared) {
  td_tensordict *td = td_sample(), *mapped = NULL, *meta = NULL, *n = NULL, *view = NULL;
  size_t length = 77;
  TD_DO(td_memmap(td, NULL, NULL, &mapped));
  TD_EXPECT(td_share_memory(mapped), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_FLAG(td_is_memmap, mapped, 1);
  TD_DO(td_to_device(td, TD_DEVICE_META, -1, NULL, &meta));
  TD_EXPECT(td_share_memory(meta), TD_ERR_DEVICE);
  TD_CHECK_FLAG(td_is_locked, meta, 0);
  TD_EXPECT(td_shared_name(td, NULL, 0, &length), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_INT(length, 77);
  TD_DO(td_share_memory(td));
  n = td_take_dict(td, TD_KEY("n"));
  TD_DO(td_view(td, TD_SIZES(12), &view));
  TD_EXPECT(td_shared_name(n, NULL, 0, &length), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_shared_name(view, NULL, 0, &length), TD_ERR_INVALID_ARGUMENT);
}

TD_TEST(empty_dictionaries_and_tensors) {
  td_tensordict *td = td_empty(TD_SIZES(0)), *other = NULL;
  size_t length = 0;
  TD_DO(td_share_memory(td));
  TD_CHECK_FLAG(td_is_shared, td, 1);
  TD_EXPECT(td_shared_name(td, NULL, 0, &length), TD_ERR_UNSUPPORTED);
  TD_DO(td_unlock(td));
  td_put(td, TD_KEY("nothing"), td_filled(TD_DTYPE_FLOAT64, 1, TD_SIZES(0, 3)));
  TD_DO(td_share_memory(td));
  TD_DO(td_shared_open(name_of(td), &other));
  td_tensor *nothing = td_take(other, TD_KEY("nothing"));
  TD_CHECK_SIZES(nothing, 0, 3);
}

TD_TEST(the_name_needs_room) {
  td_tensordict *td = shared_sample();
  char text[2] = "?";
  size_t length = 0;
  TD_EXPECT(td_shared_name(td, text, sizeof text, &length), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK(length > 4 && length < 64);
  TD_CHECK_SAME_TEXT(text, "?");
  TD_EXPECT(td_shared_name(td, NULL, 0, NULL), TD_ERR_NULL_ARGUMENT);
}

/* Opens the name, waits for the parent and answers. */
TD_TEST(child_answers) {
  td_tensordict *td = NULL;
  TD_DO(td_shared_open(td_role(), &td));
  TD_CHECK_FLAG(td_is_shared, td, 1);
  TD_CHECK_FLAG(td_is_locked, td, 1);
  TD_CHECK_BATCH(td, 4, 3);
  TD_CHECK_INT(read_b(td, 3), 9);
  write_b(td, 0, 1001);
  TD_CHECK(wait_for_b(td, 1, 2002));
  write_b(td, 2, 3003);
  TD_CHECK_SAME_TEXT(name_of(td), td_role());
}

TD_TEST(two_processes_see_each_other) {
  td_tensordict *td = shared_sample();
  const int child = td_spawn("child_answers", name_of(td));
  TD_CHECK(wait_for_b(td, 0, 1001));
  write_b(td, 1, 2002);
  TD_CHECK(wait_for_b(td, 2, 3003));
  TD_CHECK(td_join(child));
  TD_CHECK_INT(read_b(td, 3), 9);
}

TD_TEST(a_forked_child_writes_to_its_parent) {
  td_tensordict *td = shared_sample();
  const pid_t child = fork();
  if (child == 0) {
    write_b(td, 1, 777);
    _exit(0);
  }
  TD_CHECK(td_join((int)child));
  TD_CHECK_INT(read_b(td, 1), 777);
}

/* Shares, tells the name through the descriptor, and ends when the parent has written. */
TD_TEST(child_shares) {
  const int out = atoi(td_role());
  td_tensordict *td = shared_sample();
  write_b(td, 0, 42);
  const char *name = name_of(td);
  TD_CHECK(write(out, name, strlen(name)) == (ssize_t)strlen(name));
  close(out);
  TD_CHECK(wait_for_b(td, 1, 43));
}

TD_TEST(the_memory_outlives_its_owner_and_the_name_does_not) {
  int ends[2];
  char name[128] = "", number[16];
  td_tensordict *td = NULL, *late;
  TD_CHECK(pipe(ends) == 0);
  snprintf(number, sizeof number, "%d", ends[1]);
  const int child = td_spawn("child_shares", number);
  close(ends[1]);
  for (ssize_t n, done = 0; (n = read(ends[0], name + done, sizeof name - 1 - (size_t)done)) > 0;)
    done += n;
  close(ends[0]);
  TD_DO(td_shared_open(name, &td));
  TD_CHECK_INT(read_b(td, 0), 42);
  write_b(td, 1, 43);
  TD_CHECK(td_join(child));
  TD_EXPECT_NULL(td_shared_open(name, &late), TD_ERR_IO, late);
  TD_CHECK_TEXT(td_last_error_message(), "has ended");
  TD_CHECK_INT(read_b(td, 0), 42);
  write_b(td, 0, 44);
  TD_CHECK_INT(read_b(td, 0), 44);
}

TD_TEST(the_name_ends_with_the_last_handle) {
  td_tensordict *td = shared_sample(), *other;
  char name[128];
  strcpy(name, name_of(td));
  td_tensor *b = td_take(td, TD_KEY("n", "b"));
  td_free(td);
  TD_DO(td_shared_open(name, &other)); /* a tensor keeps it */
  td_free(other);
  td_tensor_free(b);
  TD_EXPECT_NULL(td_shared_open(name, &other), TD_ERR_IO, other);
}

TD_TEST(texts_that_are_no_name) {
  static const char *const texts[] = {"",
                                      "td1-",
                                      "td1-1-2",
                                      "td1-1-2-",
                                      "td1--1-2-3",
                                      "td1-1-2-3-",
                                      "td1-01-2-3",
                                      "td2-1-2-3",
                                      "/etc/passwd",
                                      "td1-1-2-3 ",
                                      "td1-99999999999999999999999-2-3",
                                      "td1-1-../../x-3"};
  td_tensordict *td;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    TD_EXPECT_NULL(td_shared_open(texts[i], &td), TD_ERR_INVALID_ARGUMENT, td);
  }
  TD_EXPECT_NULL(td_shared_open("td1-999999999-3-7", &td), TD_ERR_IO, td);
}

TD_TEST(names_that_lead_to_something_else) {
  td_tensordict *td = shared_sample(), *other;
  char name[128], wrong[160];
  int ends[2];
  strcpy(name, name_of(td));
  char *nonce = strrchr(name, '-') + 1;
  snprintf(wrong, sizeof wrong, "%.*s7", (int)(nonce - name), name);
  TD_EXPECT_NULL(td_shared_open(wrong, &other), TD_ERR_IO, other);
  TD_CHECK_TEXT(td_last_error_message(), "another one");
  TD_CHECK(pipe(ends) == 0);
  snprintf(wrong, sizeof wrong, "td1-%d-%d-7", (int)getpid(), ends[0]);
  TD_EXPECT_NULL(td_shared_open(wrong, &other), TD_ERR_FORMAT, other);
  close(ends[0]);
  close(ends[1]);
}

/* What a program of another hand might offer. */
typedef struct offer {
  const char *text;    /* JSON */
  int64_t data;        /* bytes of tensors */
  int64_t text_length; /* what is said of it; -1: the truth */
  int64_t content;     /* what the trailer says; -1: the truth */
  int seals;
  const char *magic;
} offer;

#define A_LEAF(what)                                             \
  "{\"cls\":\"TensorDict\",\"non_tensors\":{},\"leaves\":{" what \
  "},\"cls_metadata\":{"                                         \
  "\"device\":null,\"names\":[null],\"batch_size\":[4],\"is_locked\":true}}"
static const char good[] = A_LEAF("\"a\":[\"torch.int64\",[4],0,32,0]");

static int offer_segment(const offer *it, char *name, size_t room) {
  const int file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  static const char zeros[64];
  const int64_t length = (int64_t)strlen(it->text),
                said = it->text_length < 0 ? length : it->text_length;
  const int64_t content = it->data + length + 8;
  const uint64_t nonce = 7, told = (uint64_t)(it->content < 0 ? content : it->content);
  TD_CHECK(file >= 0);
  int good_writes = write(file, zeros, (size_t)it->data) == it->data;
  good_writes &= write(file, it->text, (size_t)length) == length;
  good_writes &= write(file, &said, 8) == 8;
  const size_t gap = (size_t)((8 - content % 8) % 8);
  good_writes &= write(file, zeros, gap) == (ssize_t)gap;
  good_writes &= write(file, it->magic == NULL ? "TDSHARE1" : it->magic, 8) == 8;
  good_writes &= write(file, &nonce, 8) == 8;
  good_writes &= write(file, &told, 8) == 8;
  TD_CHECK(good_writes);
  if (it->seals != 0) TD_CHECK(fcntl(file, F_ADD_SEALS, it->seals) == 0);
  snprintf(name, room, "td1-%d-%d-7", (int)getpid(), file);
  return file;
}

TD_TEST(content_that_cannot_be_trusted) {
  static const offer offers[] = {
      {good, 32, -1, -1, 0, NULL},                   /* not sealed */
      {good, 32, -1, -1, F_SEAL_GROW, NULL},         /* it could still be shortened */
      {good, 32, -1, -1, F_SEAL_SHRINK, "TDSHARE9"}, /* not ours */
      {good, 24, -1, -1, F_SEAL_SHRINK, NULL},       /* too short for the tensor */
      {good, 32, 1000000, -1, F_SEAL_SHRINK, NULL},  /* a text longer than all */
      {good, 32, INT64_MAX, -1, F_SEAL_SHRINK, NULL},
      {good, 32, -1, INT64_MAX, F_SEAL_SHRINK, NULL},
      {good, 32, -1, 3, F_SEAL_SHRINK, NULL},
      {good, 32, 5, -1, F_SEAL_SHRINK, NULL},
      {"", 32, -1, -1, F_SEAL_SHRINK, NULL},
      {A_LEAF("\"a\":[\"torch.int64\",[4],8,40,0]"), 32, -1, -1, F_SEAL_SHRINK, NULL},
      {A_LEAF("\"a\":[\"torch.int64\",[4],-8,24,0]"), 32, -1, -1, F_SEAL_SHRINK, NULL},
      {A_LEAF("\"a\":[\"torch.int64\",[4],0,32,8]"), 32, -1, -1, F_SEAL_SHRINK, NULL},
      {A_LEAF("\"a\":[\"torch.int32\",[4],0,16,0],\"b\":[\"torch.int32\",[4],8,24,0]"), 32, -1, -1,
       F_SEAL_SHRINK, NULL}, /* they overlap */
      {A_LEAF("\"a\":[\"torch.int64\",[4611686018427387904,4],0,32,0]"), 32, -1, -1, F_SEAL_SHRINK,
       NULL},
      {A_LEAF("\"a\":[\"torch.int64\",[2,2],0,32,0]"), 32, -1, -1, F_SEAL_SHRINK, NULL},
  };
  td_tensordict *td;
  char name[64];
  const offer sound = {good, 32, -1, -1, F_SEAL_SHRINK, NULL};
  int file = offer_segment(&sound, name, sizeof name);
  TD_DO(td_shared_open(name, &td));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 0, 0, 0));
  td_free(td);
  close(file);
  for (size_t i = 0; i < sizeof offers / sizeof *offers; i++) {
    file = offer_segment(&offers[i], name, sizeof name);
    TD_EXPECT_NULL(td_shared_open(name, &td), TD_ERR_FORMAT, td);
    close(file);
  }
  file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  TD_CHECK(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  snprintf(name, sizeof name, "td1-%d-%d-7", (int)getpid(), file);
  TD_EXPECT_NULL(td_shared_open(name, &td), TD_ERR_FORMAT, td); /* nothing in it */
  close(file);
}

TD_TEST(the_printed_form_says_so) {
  td_tensordict *td = shared_sample();
  char *text = td_printed(td);
  TD_CHECK_TEXT(text, "device=cpu, dtype=torch.float32, is_shared=True)");
  TD_CHECK(strstr(text, "is_shared=False") == NULL);
  free(text);
}
