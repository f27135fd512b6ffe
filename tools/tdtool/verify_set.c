/* tdtool verify of a data set. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runs.h"
#include "views.h"

typedef struct findings {
  table *lines;
  size_t problems, notes;
} findings;

void add_problem(table *lines, const char *kind, color how, const td_tool_problem *problem) {
  if (common.json) {
    json_begin('{');
    json_member(text, "file", problem->file);
    json_member(text, "kind", kind);
    if (problem->episode >= 0) json_member(int, "episode", problem->episode);
    if (problem->row >= 0) json_member(int, "row", problem->row);
    json_member(text, "text", problem->text);
    json_end('}');
    return;
  }
  text place = {NULL, 0, 0}, clean = {NULL, 0, 0};
  add_escaped(&place, problem->file);
  if (problem->episode >= 0)
    addf(&place, "%sepisode %" PRId64, place.length ? ", " : "", problem->episode);
  if (problem->row >= 0) addf(&place, ", row %" PRId64, problem->row);
  add_escaped(&clean, problem->text);
  table_cell(lines, BOLD, place.length ? place.data : ".");
  table_cell(lines, how, kind);
  table_cell(lines, PLAIN, clean.length ? clean.data : "");
  text_free(&place);
  text_free(&clean);
}

static void take_problem(void *user, const td_tool_problem *problem) {
  findings *to = user;
  *(problem->is_note ? &to->notes : &to->problems) += 1;
  add_problem(to->lines, problem->is_note ? "note" : "problem", problem->is_note ? DIM : RED,
              problem);
}

static void add_count(text *to, size_t count, const char *what) {
  if (count) addf(to, "%s%zu %s%s", to->length ? ", " : "", count, what, count == 1 ? "" : "s");
}

int verify_set(const char *path) {
  findings found = {table_new("lll"), 0, 0};
  td_dataset_kind kind;
  must(td_tool_kind(path, &kind));
  if (common.json) {
    json_begin('{');
    json_member(text, "path", path);
    json_member(text, "form", "dataset");
    json_member(text, "kind", dataset_kind_name(kind));
    json_member(begin, "damage", '[');
  }
  const td_status status = td_tool_verify(path, take_problem, &found);
  if (common.json) {
    json_end(']');
    json_member(size, "damaged", found.problems);
    json_end('}');
    json_finish();
  } else {
    table_print(found.lines, WHOLE_LINES);
  }
  must(status); /* what was found before is printed */
  if (!common.json) {
    text name = {NULL, 0, 0}, counts = {NULL, 0, 0};
    add_escaped(&name, path);
    if (!found.problems) add(&counts, "fine");
    add_count(&counts, found.problems, "problem");
    add_count(&counts, found.notes, "note");
    printf("%s: %s\n", name.data, counts.data);
    text_free(&name);
    text_free(&counts);
  }
  table_free(found.lines);
  return found.problems ? TOOL_FOUND : TOOL_FINE;
}
