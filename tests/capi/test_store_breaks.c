/* A connection that breaks while a dictionary is made: nobody else's is overwritten, and nothing is made twice. */
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "td_redis.h"
#include "td_values.h"

enum cut { cut_before, cut_after };

/* Stands between client and server. The first time that EXEC comes, the connection is closed: before the server gets it, when
 * somebody else takes the id meanwhile, or after the server has answered. */
struct between {
  int listens, cuts;
  enum cut cut;
  const char *others_key; /* NULL: nobody takes the id */
};

static struct sockaddr_un address_of(const char *path) {
  struct sockaddr_un address = {0};
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  return address;
}

static int holds(const char *bytes, ssize_t size, const char *word) {
  const size_t length = strlen(word);
  for (ssize_t i = 0; i + (ssize_t)length <= size; i++) {
    if (memcmp(bytes + i, word, length) == 0) return 1;
  }
  return 0;
}

static void pass_on(struct between *between, int client, int server) {
  static char bytes[1 << 16];
  struct pollfd ready[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
  while (poll(ready, 2, -1) > 0) {
    for (int i = 0; i < 2; i++) {
      if (ready[i].revents == 0) continue;
      const ssize_t size = read(ready[i].fd, bytes, sizeof bytes);
      if (size <= 0) return;
      const int cuts = i == 0 && between->cuts == 0 && holds(bytes, size, "EXEC");
      if (cuts && between->cut == cut_before) {
        between->cuts++;
        if (between->others_key != NULL) TD_REDIS("SET", between->others_key, "[7]");
        return;
      }
      if (send(ready[1 - i].fd, bytes, (size_t)size, MSG_NOSIGNAL) != size) return;
      if (cuts) {
        between->cuts++;
        (void)!read(server, bytes, sizeof bytes); /* the server has done it; nobody hears of it */
        return;
      }
    }
  }
}

static void *serve(void *argument) {
  struct between *between = (struct between *)argument;
  for (;;) {
    const int client = accept(between->listens, NULL, NULL);
    if (client < 0) return NULL;
    const struct sockaddr_un address = address_of(td_redis_socket);
    const int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(server, (const struct sockaddr *)&address, sizeof address) == 0)
      pass_on(between, client, server);
    close(server);
    close(client);
  }
}

/* Makes a dictionary through it; the store is given back with the real server's id. */
static td_status made_through(struct between *between, const char *id) {
  char folder[] = "/tmp/td-between-XXXXXX", path[64];
  pthread_t thread;
  TD_CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/s", folder);
  const struct sockaddr_un address = address_of(path);
  between->listens = socket(AF_UNIX, SOCK_STREAM, 0);
  TD_CHECK_INT(bind(between->listens, (const struct sockaddr *)&address, sizeof address), 0);
  TD_CHECK_INT(listen(between->listens, 4), 0);
  TD_CHECK_INT(pthread_create(&thread, NULL, serve, between), 0);
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 1, TD_SIZES(2)));
  td_store_options options = td_redis_options(id);
  options.unix_socket = path;
  td_store *store = TD_POISON;
  const td_status status = td_store_from(td, &options, &store);
  if (status == TD_OK) {
    /* The connection goes on as any other: no key is watched any more. */
    char key[64];
    snprintf(key, sizeof key, "tensordict:{%s}:__batch_size__", id);
    TD_REDIS("SET", key, "[2]");
    td_tensor *a = NULL;
    TD_DO(td_store_set(store, TD_KEY("b"), a = td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2))));
    td_tensor_free(a);
    td_store_free(store);
  } else {
    TD_CHECK(store == NULL);
  }
  td_free(td);
  shutdown(between->listens, SHUT_RDWR);
  close(between->listens);
  pthread_join(thread, NULL);
  unlink(path);
  rmdir(folder);
  TD_CHECK_INT(between->cuts, 1);
  return status;
}

TD_TEST(an_id_taken_while_the_connection_broke_is_not_overwritten) {
  td_redis();
  struct between between = {-1, 0, cut_before, "tensordict:{taken}:__batch_size__"};
  TD_CHECK_INT(made_through(&between, "taken"), TD_ERR_KEY_EXISTS);
  TD_CHECK_TEXT(td_last_error_message(), "taken");
  td_redis_check_bytes("tensordict:{taken}:__batch_size__", "[7]", 3);
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{taken}:d:a"), 0);
  TD_REDIS("DEL", "tensordict:{taken}:__batch_size__");
}

TD_TEST(a_dictionary_is_made_over_a_new_connection) {
  td_redis();
  struct between between = {-1, 0, cut_before, NULL};
  TD_CHECK_INT(made_through(&between, "free"), TD_OK);
  const int64_t a[] = {1, 2};
  td_redis_check_bytes("tensordict:{free}:d:a", a, sizeof a);
}

TD_TEST(an_answer_that_is_lost_is_not_taken_for_another_dictionary) {
  td_redis();
  struct between between = {-1, 0, cut_after, NULL};
  TD_CHECK_INT(made_through(&between, "twice"), TD_OK);
  const int64_t a[] = {1, 2}, b[] = {5, 6};
  td_redis_check_bytes("tensordict:{twice}:d:a", a, sizeof a);
  td_redis_check_bytes("tensordict:{twice}:d:b", b, sizeof b);
}
