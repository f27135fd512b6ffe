/* tdtool pack and unpack: a folder as an archive, and back, file by file. */
#include "runs.h"

typedef struct job {
  const char *from, *to;
  td_memmap_pack_options options;
} job;

static td_status pack(void *user) {
  const job *of = user;
  return td_memmap_pack(of->from, of->to, &of->options);
}

static td_status unpack(void *user) {
  const job *of = user;
  return td_memmap_unpack(of->from, of->to, &of->options);
}

static int finish_pack(const char *out, form as) {
  td_tensordict *td = open_any(out, true);
  print_saved(td, out, as);
  td_free(td);
  return TOOL_FINE;
}

int run_pack(int count, char **arguments) {
  (void)count;
  job of = {arguments[0], arguments[1], TD_MEMMAP_PACK_OPTIONS_INIT};
  if (form_of_file(of.from) != FORM_FOLDER)
    die("%s is not a folder; only folders can be packed", of.from);
  saving.force = pack_asked.force;
  refuse_existing(of.to);
  of.options.compression = pack_asked.compress ? TD_COMPRESSION_DEFLATE : TD_COMPRESSION_STORED;
  of.options.durable = pack_asked.durable;
  of.options.fail_if_exists = !pack_asked.force;
  must(progress_call("pack", 0, pack, &of));
  return finish_pack(of.to, FORM_ARCHIVE);
}

int run_unpack(int count, char **arguments) {
  (void)count;
  job of = {arguments[0], arguments[1], TD_MEMMAP_PACK_OPTIONS_INIT};
  if (form_of_file(of.from) != FORM_ARCHIVE) die("%s is not an archive; pack makes one", of.from);
  of.options.durable = unpack_asked.durable;
  of.options.fail_if_exists = 1;
  must(progress_call("unpack", 0, unpack, &of));
  return finish_pack(of.to, FORM_FOLDER);
}
