/* Runs the cases of a file: conformance FILE. README.md describes the form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensordict/td.h"

enum { ROOM = 256, TEXT = 16384 };

static td_tensordict *td, *aside[ROOM]; /* of the case, and those that were put aside */
static size_t aside_len;
static char name[ROOM], text[TEXT];
static int number, failures;

static void check(int truth, const char *what, const char *found) {
  if (truth) return;
  failures++;
  printf("not ok: %s, line %d: %s; found \"%s\"\n", name, number, what, found);
}

static size_t split(char *list, const char *by, const char **parts) {
  size_t count = 0;
  for (char *part = strtok(list, by); part; part = strtok(NULL, by)) parts[count++] = part;
  return count;
}

/* The names of a path; '' has no letters. */
static size_t names_of(char *list, const char **path) {
  const size_t count = split(list, "/", path);
  for (size_t i = 0; i < count; i++) path[i] = strcmp(path[i], "''") ? path[i] : "";
  return count;
}

static size_t numbers(char *list, int64_t *result) {
  const char *parts[ROOM];
  const size_t count = split(list, " ", parts);
  for (size_t i = 0; i < count; i++) result[i] = strtoll(parts[i], NULL, 10);
  return count;
}

static void append(const char *more) { strncat(text, more, TEXT - strlen(text) - 1); }

static void append_number(int64_t value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%s%lld", text[0] ? " " : "", (long long)value);
  append(digits);
}

static td_status counting(const char *dtype, const int64_t *sizes, size_t dims,
                          td_tensor **result) {
  int64_t values[ROOM] = {0}, count = 1;
  td_tensor *plain = NULL;
  td_dtype number_of_dtype = TD_DTYPE_UINT8;
  for (size_t i = 0; i < dims; i++) count *= sizes[i];
  for (int64_t i = 0; i < count; i++) values[i] = i;
  while (strcmp(td_dtype_name(number_of_dtype) + strlen("torch."), dtype)) number_of_dtype++;
  td_status status =
      td_tensor_from_data(values, (size_t)count * 8, sizes, dims, TD_DTYPE_INT64, &plain);
  if (!status) status = td_tensor_to(plain, number_of_dtype, TD_DEVICE_NONE, -1, result);
  td_tensor_free(plain);
  return status;
}

/* Stores a tensor (with a dtype) or an empty dictionary (without) in a dictionary. */
static td_status store(td_tensordict *into, char *rest, int with_dtype) {
  const char *path[ROOM], *dtype = "";
  char *sizes_text = strchr(rest, ' ');
  int64_t sizes[ROOM];
  td_tensor *tensor = NULL;
  td_tensordict *dict = NULL;
  td_status status;
  *sizes_text++ = '\0';
  if (with_dtype) {
    dtype = sizes_text;
    sizes_text += strcspn(sizes_text, " ");
    if (*sizes_text) *sizes_text++ = '\0';
  }
  const size_t dims = numbers(sizes_text, sizes), path_len = names_of(rest, path);
  status = with_dtype ? counting(dtype, sizes, dims, &tensor)
                      : td_create(sizes, dims, TD_DEVICE_NONE, -1, &dict);
  if (!status)
    status =
        with_dtype ? td_set(into, path, path_len, tensor) : td_set_dict(into, path, path_len, dict);
  td_tensor_free(tensor);
  td_free(dict);
  return status;
}

/* Looks a tensor up and leaves its values in `text`. */
static td_status values_of(char *rest) {
  const char *path[ROOM];
  td_tensor *tensor = NULL, *wide = NULL;
  int64_t values[ROOM];
  size_t bytes = 0;
  td_status status = td_get(td, path, names_of(rest, path), &tensor);
  if (!status) status = td_tensor_to(tensor, TD_DTYPE_INT64, TD_DEVICE_NONE, -1, &wide);
  if (!status) status = td_tensor_nbytes(wide, &bytes);
  if (!status) status = td_tensor_copy_to(wide, values, bytes);
  text[0] = '\0';
  for (size_t i = 0; !status && i < bytes / 8; i++) append_number(values[i]);
  td_tensor_free(tensor);
  td_tensor_free(wide);
  return status;
}

static td_status part(const char *index) {
  td_index_item items[ROOM];
  td_tensordict *result = NULL;
  size_t count = 0;
  td_status status = td_index_parse(index, items, ROOM, &count);
  if (!status) status = td_index(td, items, count, &result);
  if (status) return status;
  td_free(td);
  td = result;
  return TD_OK;
}

/* Stores a tensor through a sub-tensordict. */
static td_status through(char *rest) {
  td_index_item items[ROOM];
  td_tensordict *sub = NULL;
  size_t count = 0;
  char *more = strchr(rest, ' ');
  *more++ = '\0';
  td_status status = td_index_parse(rest, items, ROOM, &count);
  if (!status) status = td_sub_tensordict(td, items, count, &sub);
  if (!status) status = store(sub, more, 1);
  td_free(sub);
  return status;
}

static void drop_aside(void) {
  while (aside_len) td_free(aside[--aside_len]);
}

static void list_keys(void) {
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys = NULL;
  options.include_nested = 1;
  text[0] = '\0';
  check(td_keys_of(td, &options, &keys) == TD_OK, "keys", td_last_error_message());
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path = NULL;
    size_t path_len = 0;
    if (td_keys_at(keys, i, &path, &path_len)) break;
    for (size_t level = 0; level < path_len; level++) {
      append(level ? "/" : i ? " " : "");
      append(path[level][0] ? path[level] : "''");
    }
  }
  td_keys_free(keys);
}

/* A command that changes something, or looks something up. */
static td_status act(const char *word, char *rest) {
  const char *path[ROOM];
  int64_t sizes[ROOM];
  td_tensordict *made = NULL;
  td_status status;
  if (!strcmp(word, "tensor")) return store(td, rest, 1);
  if (!strcmp(word, "nested")) return store(td, rest, 0);
  if (!strcmp(word, "through")) return through(rest);
  if (!strcmp(word, "remove")) return td_remove(td, path, names_of(rest, path));
  if (!strcmp(word, "lock")) return td_lock(td);
  if (!strcmp(word, "unlock")) return td_unlock(td);
  if (!strcmp(word, "index")) return part(rest);
  if (!strcmp(word, "get")) return values_of(rest);
  if (!strcmp(word, "aside")) {
    aside[aside_len++] = td;
    td = NULL;
    return TD_OK;
  }
  const size_t dims = numbers(rest, sizes);
  if (!strcmp(word, "resize")) return td_set_batch_size(td, sizes, dims);
  if (!strcmp(word, "view")) {
    status = td_view(td, sizes, dims, &made);
  } else if (!strcmp(word, "lazy")) {
    status = td_lazy_stack((const td_tensordict *const *)aside, aside_len, sizes[0], &made);
    drop_aside();
  } else if (!strcmp(word, "clamp")) {
    const td_operand low = TD_O_INT(sizes[0]), high = TD_O_INT(sizes[1]);
    status = td_ternary(td, TD_TERNARY_CLAMP, &low, &high, 1, &made);
  } else if (!strcmp(word, "dict")) {
    status = td_create(sizes, dims, TD_DEVICE_NONE, -1, &made);
  } else {
    check(0, "no such command", word);
    return TD_OK;
  }
  if (status) return status;
  td_free(td);
  td = made;
  return TD_OK;
}

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  char line[1024];
  const char *printed = "";
  td_status status = TD_OK;
  int cases = 0;
  if (!file) return fprintf(stderr, "usage: conformance FILE\n"), 2;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    number++;
    if (!line[0] || line[0] == '#') continue;
    if (line[0] == '|') { /* the next line of what was printed */
      const size_t length = strlen(line + 1);
      check(!strncmp(printed, line + 1, length) && strchr("\n", printed[length]), line, printed);
      printed = strchr(printed, '\n') ? strchr(printed, '\n') + 1 : "";
      continue;
    }
    char *word = line, *rest = line + strcspn(line, " ");
    if (*rest) *rest++ = '\0';
    if (!strcmp(word, "status")) {
      check(!strcmp(td_status_name(status), rest), rest, td_status_name(status));
      status = TD_OK;
      continue;
    }
    check(status == TD_OK, "the command before failed", td_last_error_message());
    status = TD_OK;
    if (!strcmp(word, "case")) {
      snprintf(name, sizeof name, "%s", rest);
      td_free(td);
      td = NULL;
      drop_aside();
      cases++;
    } else if (!strcmp(word, "batch")) {
      int64_t sizes[ROOM];
      size_t dims = 0;
      check(td_batch_size(td, sizes, ROOM, &dims) == TD_OK, "batch", td_last_error_message());
      text[0] = '\0';
      for (size_t i = 0; i < dims; i++) append_number(sizes[i]);
      check(!strcmp(text, rest), rest, text);
    } else if (!strcmp(word, "keys")) {
      list_keys();
      check(!strcmp(text, rest), rest, text);
    } else if (!strcmp(word, "values")) {
      char *want = rest + strcspn(rest, " ");
      if (*want) *want++ = '\0';
      check(values_of(rest) == TD_OK, "values", td_last_error_message());
      check(!strcmp(text, want), want, text);
    } else if (!strcmp(word, "prints")) {
      size_t length = 0;
      check(td_to_string(td, text, TEXT, &length) == TD_OK, "prints", td_last_error_message());
      printed = text;
    } else if (!strcmp(word, "end")) {
      check(!*printed, "nothing more", printed);
    } else {
      status = act(word, rest);
    }
  }
  check(status == TD_OK, "the last command failed", td_last_error_message());
  td_free(td);
  drop_aside();
  fclose(file);
  printf("%d cases, %d failures\n", cases, failures);
  return failures || cases < 40 || td_debug_live_handles();
}
