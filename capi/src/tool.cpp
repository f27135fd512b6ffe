// td_tool.h
#include "dataset_handle.h"
#include "give.h"
#include "guard.h"
#include "td_tool.h"

#include "core/datasets/repair.h"
#include "core/datasets/verify.h"
#include "core/datasets/view.h"

td_status td_tool_kind(const char* path, td_dataset_kind* kind) noexcept {
  return guard(__func__, [&] {
    *kind = static_cast<td_dataset_kind>(td::kind_of_dataset(not_null(path, "path")));
  });
}

static td_tool_problem problem_of(const td::DatasetProblem& one) {
  return {one.file.c_str(), one.text.c_str(), one.episode, one.row, one.is_note ? 1 : 0};
}

td_status td_tool_verify(const char* path, td_tool_problem_fn found, void* user) noexcept {
  return guard(__func__, [&] {
    td::verify_dataset(not_null(path, "path"), [&](const td::DatasetProblem& one) {
      const td_tool_problem problem = problem_of(one);
      found(user, &problem);
    });
  });
}

td_status td_tool_repair_set(const char* path, const char* out, td_tool_repair* how,
                             td_tool_step_fn step, void* user) noexcept {
  return guard(__func__, [&] {
    const td::RepairOptions options{how->dry != 0, how->durable != 0, how->may_lose != 0};
    const td::Repaired done = td::repair_dataset(
        not_null(path, "path"), not_null(out, "out"), options, [&](const td::RepairStep& one) {
          const td_tool_problem problem = problem_of(one.problem);
          step(user, one.what, &problem);
        });
    how->episodes = done.episodes;
    how->steps = done.steps;
    how->found = done.found;
    how->lost = done.lost;
    how->left = done.left;
    how->is_written = done.is_written ? 1 : 0;
  });
}

td_status td_tool_view_of(const td_dataset* const* sets, size_t sets_len, const td_tool_view* view,
                          td_dataset** result) noexcept {
  return give(__func__, result, [&] {
    td::DatasetView wanted;
    wanted.episodes.assign(view->episodes, view->episodes + view->episodes_len);
    for (std::size_t i = 0; i < view->without_len; ++i)
      wanted.without.emplace_back(view->without[i].path,
                                  view->without[i].path + view->without[i].path_len);
    wanted.same_name = view->same_name != 0;
    std::vector<const td::Dataset*> all;
    for (std::size_t i = 0; i < sets_len; ++i) all.push_back(in(sets[i]));
    return td::view_of(all, wanted);
  });
}

td_status td_tool_split(const td_dataset* set, double share, uint64_t seed, td_tool_part_fn each,
                        void* user) noexcept {
  return guard(__func__, [&] {
    const td::Dataset& whole = *in(set);
    for (const td::DatasetPart& part :
         share == 0 ? td::split_by_task(whole) : td::split_by_share(whole, share, seed))
      each(user, part.name.c_str(), part.episodes.data(), part.episodes.size());
  });
}
