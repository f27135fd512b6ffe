/* tdtool verify: finds damage. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runs.h"
#include "views.h"

static struct {
  table *lines;
  size_t found;
} report;

static void damaged(const char *path, const char *kind, const char *message) {
  report.found++;
  if (common.json) {
    json_begin('{');
    json_member(text, "file", path);
    json_member(text, "kind", kind);
    json_member(text, "text", message);
    json_end('}');
    return;
  }
  text name = {NULL, 0, 0}, clean = {NULL, 0, 0};
  text named = {NULL, 0, 0}; /* the message need not say the file again */
  addf(&named, "%s\"", path);
  const char *again = *path ? strstr(message, named.data) : NULL;
  if (again) message = again + named.length;
  message += strspn(message, ": ");
  text_free(&named);
  add_escaped(&name, *path ? path : ".");
  add_escaped(&clean, message);
  table_cell(report.lines, BOLD, name.data);
  table_cell(report.lines, RED, kind);
  table_cell(report.lines, PLAIN, clean.data ? clean.data : "");
  text_free(&name);
  text_free(&clean);
}

static td_status each_damage(void *user, const td_damage *damage) {
  static const char *const kinds[] = {"damaged", "missing", "short",   "changed",
                                      "unknown", "format",  "no file", "unreadable"};
  (void)user;
  size_t kind = (size_t)damage->kind < COUNT_OF(kinds) ? (size_t)damage->kind : 0;
  damaged(damage->path, kinds[kind], damage->message);
  return TD_OK;
}

static td_status each_progress(void *user, size_t done, size_t total) {
  (void)user;
  progress_set(done, total);
  return TD_OK;
}

static bool has_checksums(const char *path) {
  struct stat about;
  text name = {NULL, 0, 0};
  addf(&name, "%s/checksums", path);
  bool found = stat(name.data, &about) == 0;
  text_free(&name);
  return found;
}

/* A folder, or an archive, each entry of which has a checksum. */
static void verify_folder(const char *path) {
  td_verify_options how = TD_VERIFY_OPTIONS_INIT;
  size_t count;
  how.num_threads = 2;
  how.progress = each_progress;
  progress_begin("verify", 0);
  if (verify_asked.add) {
    must(td_memmap_write_checksums(path, &how));
  } else {
    how.damage = each_damage;
    must(td_memmap_verify(path, &how, &count));
  }
  progress_end();
}

/* A file is intact if it opens; one that cannot be read at all is an error, not damage. */
static void verify_file(const char *path, form which) {
  td_tensordict *td;
  td_status status = try_open(path, which, &td);
  if (status == TD_ERR_FORMAT || status == TD_ERR_SHAPE || status == TD_ERR_KEY_EXISTS) {
    damaged("", "damaged", td_last_error_message());
  } else {
    must(status);
  }
  td_free(td);
}

static void print_result(const char *path, form which) {
  text line = {NULL, 0, 0};
  add_escaped(&line, path);
  if (report.found) {
    addf(&line, ": %zu damaged", report.found);
  } else if (verify_asked.add) {
    add(&line, ": has checksums now");
  } else {
    add(&line, ": fine");
    if (which == FORM_FOLDER && !has_checksums(path)) {
      add(&line, "; without checksums, sizes alone were looked at");
    }
  }
  puts(line.data);
  text_free(&line);
}

int run_verify(int count, char **arguments) {
  (void)count;
  const char *path = arguments[0];
  form which = form_of_file(path);
  if (verify_asked.add && which != FORM_FOLDER)
    die_usage("%s is not a folder; --add is for folders", path);
  if (!verify_asked.add && is_set(path)) return verify_set(path);
  report.lines = table_new("lll");
  if (common.json) {
    json_begin('{');
    json_member(text, "path", path);
    json_member(text, "form", form_name(which));
    json_member(begin, "damage", '[');
  }
  if (which == FORM_FOLDER || which == FORM_ARCHIVE)
    verify_folder(path);
  else
    verify_file(path, which);
  if (common.json) {
    json_end(']');
    json_member(bool, "checksums", which == FORM_FOLDER && has_checksums(path));
    json_member(size, "damaged", report.found);
    json_end('}');
    json_finish();
  } else {
    table_print(report.lines, WHOLE_LINES);
    print_result(path, which);
  }
  table_free(report.lines);
  return report.found ? TOOL_FOUND : TOOL_FINE;
}
