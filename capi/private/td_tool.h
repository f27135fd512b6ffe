/* td_tool.h: what tdtool asks of the library beyond its public interface. Only a tdtool of the same version may use it: these
 * functions are in a node of symbols of their own, change with any release, and are not installed as a header. */
#ifndef TENSORDICT_TD_TOOL_H
#define TENSORDICT_TD_TOOL_H

#include "tensordict/td.h"

TD_BEGIN_C

/* What is wrong with a data set. */
typedef struct td_tool_problem {
  const char* file;     /* borrowed; below the set; empty: all of it */
  const char* text;     /* borrowed; one line */
  int64_t episode, row; /* -1: none */
  int32_t is_note;      /* its library reads it; something is unusual */
} td_tool_problem;
typedef void (*td_tool_problem_fn)(void* TD_NULLABLE user, const td_tool_problem* problem);

/* The kind of set that a path holds by its looks, also a damaged one; TD_DATASET_KIND_DETECT: none. */
TD_API(0, 2) td_status td_tool_kind(const char* path, td_dataset_kind* kind) TD_NOEXCEPT;
/* Calls `found` for each problem; an error that is not a fault of the set ends it. */
TD_API(0, 2)
td_status td_tool_verify(const char* path, td_tool_problem_fn found, void* TD_NULLABLE user)
    TD_NOEXCEPT;

/* What is done with a damaged set (core/datasets/repair.h). */
typedef struct td_tool_repair {
  int32_t dry, durable, may_lose;
  int64_t episodes, steps;   /* written: of the new set */
  int64_t found, lost, left; /* written: problems, what cannot be read, problems of the new set */
  int32_t is_written;        /* written */
} td_tool_repair;
/* `what`: 0 wrong with the set, 1 mended, 2 lost, 3 still wrong. */
typedef void (*td_tool_step_fn)(void* TD_NULLABLE user, int32_t what, const td_tool_problem* step);
TD_API(0, 3)
td_status td_tool_repair_set(const char* path, const char* out, td_tool_repair* how,
                             td_tool_step_fn step, void* TD_NULLABLE user) TD_NOEXCEPT;

/* Episodes of sets, one set behind the other, as a set (core/datasets/view.h). */
typedef struct td_tool_view {
  const int64_t* TD_NULLABLE episodes;
  size_t episodes_len;
  const td_key* TD_NULLABLE without;
  size_t without_len;
  int32_t same_name;
} td_tool_view;
TD_API(0, 2)
td_status td_tool_view_of(const td_dataset* const* sets, size_t sets_len, const td_tool_view* view,
                          td_dataset** result) TD_NOEXCEPT;

/* Calls `each` for the parts of a set. `share` 0: by task. */
typedef void (*td_tool_part_fn)(void* TD_NULLABLE user, const char* name, const int64_t* episodes,
                                size_t count);
TD_API(0, 2)
td_status td_tool_split(const td_dataset* set, double share, uint64_t seed, td_tool_part_fn each,
                        void* TD_NULLABLE user) TD_NOEXCEPT;

TD_END_C

#endif
