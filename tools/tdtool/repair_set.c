/* tdtool repair of a data set. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runs.h"
#include "views.h"

static void take_step(void *user, int32_t what, const td_tool_problem *step) {
  static const struct {
    const char *name;
    color how;
  } kinds[] = {{"problem", RED}, {"mended", PLAIN}, {"lost", RED}, {"left", RED}};
  add_problem(user, kinds[what].name, kinds[what].how, step);
}

static void print_end(const char *path, const char *out, const td_tool_repair *done) {
  text line = {NULL, 0, 0};
  add_escaped(&line, path);
  if (!done->found) {
    add(&line, ": nothing to repair");
  } else {
    addf(&line, ": %s %" PRId64 " episode%s", done->is_written ? "saved" : "would save",
         done->episodes, done->episodes == 1 ? "" : "s");
    if (done->steps) addf(&line, ", %" PRId64 " steps", done->steps);
    if (done->is_written && strcmp(path, out) != 0) {
      add(&line, ", in ");
      add_escaped(&line, out);
    }
    if (done->lost) addf(&line, "; lost %" PRId64, done->lost);
    if (done->left)
      addf(&line, "; %" PRId64 " problem%s left", done->left, done->left == 1 ? "" : "s");
  }
  puts(line.data);
  text_free(&line);
}

int repair_set(const char *path, const char *out) {
  td_tool_repair how = {
      .dry = repair_asked.dry, .durable = saving.durable, .may_lose = repair_asked.force};
  table *lines = table_new("lll");
  if (strcmp(path, out) != 0 && !repair_asked.dry) {
    saving.force = repair_asked.force;
    refuse_existing(out);
  }
  if (common.json) {
    json_begin('{');
    json_member(text, "path", path);
    json_member(text, "out", out);
    json_member(begin, "steps", '[');
  }
  const td_status status = td_tool_repair_set(path, out, &how, take_step, lines);
  if (common.json) {
    json_end(']');
    json_member(int, "episodes", how.episodes);
    json_member(int, "rows", how.steps);
    json_member(int, "problems", how.found);
    json_member(int, "lost", how.lost);
    json_member(int, "left", how.left);
    json_member(bool, "changed", how.is_written);
    json_end('}');
    json_finish();
  } else {
    table_print(lines, WHOLE_LINES);
  }
  must(status); /* what was found before is printed */
  if (!common.json) print_end(path, out, &how);
  table_free(lines);
  return how.lost || how.left || (how.found && !how.is_written) ? TOOL_FOUND : TOOL_FINE;
}
