/* Functions of the caller that call themselves without end: each call comes back with a status, on a stack of 2 MB. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "td_values.h"

static atomic_int calls;

static td_status applies(void *user, const char *const *path, size_t path_len,
                         const td_tensor *source, td_tensor **result) {
  (void)path;
  (void)path_len;
  (void)source;
  (void)result;
  calls++;
  return td_apply_inplace((td_tensordict *)user, NULL, applies, user);
}

static td_status applies_to_entries(void *user, const td_apply_entry *entry, td_tensor **tensor,
                                    td_tensordict **dict) {
  (void)entry;
  (void)tensor;
  (void)dict;
  calls++;
  return td_apply_entries_inplace((td_tensordict *)user, NULL, 0, NULL, applies_to_entries, user);
}

static td_status maps(const td_tensordict *td, int32_t workers);

static td_status maps_here(void *user, const td_map_piece *piece, td_tensordict *source,
                           td_tensordict **result) {
  (void)piece;
  (void)source;
  (void)result;
  calls++;
  return maps((const td_tensordict *)user, 1);
}

static td_status maps_on_threads(void *user, const td_map_piece *piece, td_tensordict *source,
                                 td_tensordict **result) {
  (void)piece;
  (void)source;
  (void)result;
  calls++;
  return maps((const td_tensordict *)user, 2);
}

static td_status maps(const td_tensordict *td, int32_t workers) {
  td_map_options options = TD_MAP_OPTIONS_INIT;
  td_tensordict *result = NULL;
  options.num_workers = workers;
  options.cut = TD_MAP_CUT_SIZE;
  options.amount = 1;
  return td_map(td, &options, workers == 1 ? maps_here : maps_on_threads, (void *)(uintptr_t)td,
                &result);
}

static td_status loads(const td_tensordict *td, int32_t workers);

static td_status loads_on_threads(void *user, const td_map_piece *piece, td_tensordict *source,
                                  td_tensordict **result) {
  (void)piece;
  (void)source;
  (void)result;
  calls++;
  return loads((const td_tensordict *)user, 2);
}

static td_status loads(const td_tensordict *td, int32_t workers) {
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  td_loader *loader = NULL;
  td_tensordict *batch = NULL;
  options.rows = 1;
  options.num_workers = workers;
  options.transform = loads_on_threads;
  options.transform_user = (void *)(uintptr_t)td;
  td_status status = td_loader_create(td, &options, &loader);
  if (status == TD_OK) status = td_loader_next(loader, &batch);
  td_loader_free(loader);
  return status;
}

static td_status lists(void *user, const char *const *path, size_t path_len, td_entry_kind kind,
                       int32_t *is_leaf) {
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys = NULL;
  (void)path;
  (void)path_len;
  (void)kind;
  (void)is_leaf;
  options.include_nested = 1;
  options.is_leaf = lists;
  options.user = user;
  calls++;
  return td_keys_of((const td_tensordict *)user, &options, &keys);
}

static td_status sends(void *user, const void *data, size_t bytes) {
  (void)data;
  (void)bytes;
  calls++;
  return td_send((const td_tensordict *)user, NULL, sends, user);
}

static td_module *endless;

static td_status calls_module(void *user, td_tensordict *source, td_tensordict **result) {
  (void)user;
  calls++;
  return td_module_call(source, endless, NULL, result);
}

/* Begins a recursion; the text of the failure is that of its thread. */
typedef struct begun {
  int which;
  td_tensordict *td;
  td_status status;
  char text[200];
} begun;

static void *begin(void *argument) {
  begun *at = (begun *)argument;
  td_tensordict *result = NULL;
  switch (at->which) {
    case 0: at->status = applies(at->td, NULL, 0, NULL, NULL); break;
    case 1: at->status = applies_to_entries(at->td, NULL, NULL, NULL); break;
    case 2: at->status = maps(at->td, 1); break;
    case 3: at->status = maps(at->td, 2); break;
    case 4: at->status = loads(at->td, 2); break;
    case 5: at->status = lists(at->td, NULL, 0, TD_ENTRY_NONE, NULL); break;
    case 6: at->status = sends(at->td, NULL, 0); break;
    default: at->status = td_module_call(at->td, endless, NULL, &result);
  }
  snprintf(at->text, sizeof at->text, "%s", td_last_error_message());
  return NULL;
}

/* The library promises 2 MB; frames are several times larger with ASan. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STACK_BYTES (16 << 20)
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define STACK_BYTES (16 << 20)
#endif
#ifndef STACK_BYTES
#define STACK_BYTES (2 << 20)
#endif

TD_TEST(functions_that_never_stop_calling_themselves) {
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  pthread_attr_t stack;
  begun at;
  memset(&at, 0, sizeof at);
  TD_CHECK_INT(pthread_attr_init(&stack), 0);
  TD_CHECK_INT(pthread_attr_setstacksize(&stack, STACK_BYTES), 0);
  at.td = td_empty(TD_SIZES(2));
  td_put(at.td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2)));
  td_put(at.td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2)));
  TD_DO(td_module_from_function(&options, calls_module, NULL, NULL, &endless));
  for (at.which = 0; at.which < 8; at.which++) {
    for (int again = 0; again < 2; again++) {
      pthread_t thread;
      calls = 0;
      TD_CHECK_INT(pthread_create(&thread, &stack, begin, &at), 0);
      pthread_join(thread, NULL);
      if (at.status != TD_ERR_UNSUPPORTED)
        td_test_fail(__FILE__, __LINE__, "case %d gave %s: %s", at.which, td_status_name(at.status),
                     at.text);
      TD_CHECK_TEXT(at.text, "functions of the caller call one another more than 200 levels deep");
      TD_CHECK(calls >= 199);
      TD_CHECK(calls <= 201 || at.which == 3 || at.which == 4);
    }
  }
  pthread_attr_destroy(&stack);
  td_module_free(endless);
  td_free(at.td);
}
