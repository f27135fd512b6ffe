/* TorchScript archives, loaded as the options say. */
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

void module_device(td_device_type *type, int32_t *index) {
  static const struct {
    const char *name;
    td_device_type type;
  } known[] = {{"cpu", TD_DEVICE_CPU},
               {"cuda", TD_DEVICE_CUDA},
               {"mps", TD_DEVICE_MPS},
               {"xpu", TD_DEVICE_XPU}};
  const char *typed = loading.device;
  *type = TD_DEVICE_NONE;
  *index = -1;
  if (!typed) return;
  size_t length = strcspn(typed, ":");
  char *end = NULL;
  for (size_t i = 0; i < COUNT_OF(known); i++) {
    if (strlen(known[i].name) != length || strncmp(known[i].name, typed, length) != 0) continue;
    *type = known[i].type;
    if (!typed[length]) return;
    long number = strtol(typed + length + 1, &end, 10);
    if (typed[length + 1] >= '0' && typed[length + 1] <= '9' && !*end && number < 1000) {
      *index = (int32_t)number;
      return;
    }
  }
  die_usage(
      "run: --device takes cpu, cuda, mps or xpu, and perhaps a number as in cuda:1, not '%s'",
      typed);
}

/* The keys of an option; NULL if it was not given. */
static td_key *keys_of(const texts *typed, key **held) {
  if (!typed->length) return NULL;
  td_key *result = xcalloc(typed->length, sizeof *result);
  *held = xcalloc(typed->length, sizeof **held);
  for (size_t i = 0; i < typed->length; i++) {
    (*held)[i] = key_parse(typed->items[i]);
    result[i] = (td_key){(*held)[i].names, (*held)[i].length};
  }
  return result;
}

static void free_keys(td_key *keys, key *held, size_t length) {
  for (size_t i = 0; held && i < length; i++) key_free(held + i);
  free(held);
  free(keys);
}

td_status load_module(const char *path, td_module **module) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  key *held_in = NULL, *held_out = NULL;
  td_key *in = keys_of(&loading.in, &held_in), *out = keys_of(&loading.out, &held_out);
  options.flags = loading.freeze ? TD_MODULE_LOAD_FREEZE : 0;
  module_device(&options.device_type, &options.device_index);
  options.in_keys = in;
  options.in_keys_len = loading.in.length;
  options.out_keys = out;
  options.out_keys_len = loading.out.length;
  options.sha256 = loading.sha256;
  td_status status = td_module_load(path, &options, module);
  free_keys(in, held_in, loading.in.length);
  free_keys(out, held_out, loading.out.length);
  return status;
}
