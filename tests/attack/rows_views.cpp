// Views that are read late, beside the same views read at once.
#include "operation.h"

#include <algorithm>

namespace attack {

namespace {

// One operation that makes views, with arguments drawn once: called for both sides.
struct Step {
  int kind = 0;
  const Items *items = nullptr;
  Sizes sizes;
  std::int64_t dim = 0;
  std::size_t part = 0;
};

Step draw(Call &c, const td_tensordict *td) {
  const Sizes size = Call::batch(td);
  std::int64_t n = 1;
  for (const std::int64_t one : size) n *= one;
  Step step;
  step.kind = static_cast<int>(c.choices.below(9));
  step.dim = size.empty() ? 0 : c.choices.below(static_cast<std::int64_t>(size.size()));
  step.part = static_cast<std::size_t>(c.choices.below(3));
  if (step.kind <= 1) step.items = &c.items(size);
  if (step.kind == 2) step.sizes = c.choices.chance(50) ? Sizes{n} : Sizes{1, n};
  if (step.kind == 3)
    for (std::size_t i = size.size(); i-- > 0;) step.sizes.push_back(static_cast<std::int64_t>(i));
  if (step.kind == 6) {
    step.sizes = size;
    step.sizes.insert(step.sizes.begin(), c.choices.below(3));
  }
  c.tell("step " + std::to_string(step.kind) + " along " + std::to_string(step.dim));
  return step;
}

td_status one_of(td_tensordict **parts, std::size_t count, std::size_t wanted,
                 td_tensordict **result) {
  for (std::size_t i = 0; i < count; ++i) {
    if (i == std::min(wanted, count - 1)) {
      *result = parts[i];
    } else {
      td_free(parts[i]);
    }
  }
  return count == 0 ? TD_ERR_INDEX : TD_OK;
}

td_status take(const Step &step, const td_tensordict *td, td_tensordict **result) {
  const Sizes &s = step.sizes;
  td_tensordict *parts[64] = {};
  std::size_t count = 0;
  switch (step.kind) {
    case 0:
    case 1: return td_index(td, step.items->items.data(), step.items->items.size(), result);
    case 2: return td_view(td, s.data(), s.size(), result);
    case 3: return td_permute(td, s.data(), s.size(), result);
    case 4: return td_unsqueeze(td, step.dim, result);
    case 5: return td_squeeze(td, step.dim, result);
    case 6: return td_expand(td, s.data(), s.size(), result);
    case 7: {
      const td_status status = td_unbind(td, step.dim, parts, 64, &count);
      return status == TD_OK ? one_of(parts, count, step.part, result) : status;
    }
    default: {
      const std::int64_t two = 2;
      const td_status status = td_split(td, step.dim, TD_SPLIT_LENGTH, &two, 1, parts, 64, &count);
      return status == TD_OK ? one_of(parts, count, step.part, result) : status;
    }
  }
}

void read(const td_tensordict *td) {
  Snapshot all;
  all.add(td);
}

// Changes entries of a dictionary, and values while all are its own.
void change(Call &c, td_tensordict *td, bool &own) {
  const auto &path = c.path(td);
  switch (c.choices.below(own ? 5 : 4)) {
    case 0:
      (void)td_set(td, path.data(), path.size(), c.tensor_of(Call::batch(td)));
      own = false;
      break;
    case 1: (void)td_remove(td, path.data(), path.size()); break;
    case 2: {
      const char *const fresh[] = {"fresh"};
      (void)td_set(td, fresh, 1, c.tensor_of(Call::batch(td)));
      own = false;
      break;
    }
    case 3: {
      td_tensordict *copy = nullptr;
      (void)td_clone(td, TD_CLONE_SHALLOW, &copy);
      if (copy != nullptr) (void)td_remove(copy, path.data(), path.size());
      td_free(copy);
      break;
    }
    default: (void)td_zero(td); break;
  }
}

td_status read_late(Call &c) {
  bool own = c.choices.chance(50);  // values of its own, which may be written
  td_tensordict *base = nullptr;
  td_status status = td_clone(c.source(), own ? 0 : TD_CLONE_SHALLOW, &base);
  if (status != TD_OK) return status;
  c.keep(base);
  td_tensordict *late = base, *early = base;
  for (std::int64_t left = c.number(1, 3); left > 0 && status == TD_OK; --left) {
    const Step step = draw(c, late);
    td_tensordict *next_late = nullptr, *next_early = nullptr;
    status = take(step, late, &next_late);
    const td_status other = take(step, early, &next_early);
    if (next_late != nullptr) c.keep(next_late);
    if (next_early != nullptr) c.keep(next_early);
    if (status != other) c.wrong = "one of two equal views fails";
    if (status != TD_OK || other != TD_OK) break;
    late = next_late;
    early = next_early;
    read(early);
    if (c.choices.chance(25)) {  // the next view knows fewer dimensions
      const Sizes size = Call::batch(late);
      const auto dims =
          static_cast<std::size_t>(c.choices.below(static_cast<std::int64_t>(size.size()) + 1));
      const td_status cut = td_set_batch_size(late, size.data(), dims);
      if (cut != td_set_batch_size(early, size.data(), dims))
        c.wrong = "the batch size of one of two equal views cannot be set";
    }
    if (c.choices.chance(30)) change(c, base, own);
    if (c.choices.chance(10)) read(late);
  }
  for (std::int64_t left = c.number(0, 3); left > 0; --left) change(c, base, own);
  if (late == base || !c.wrong.empty()) return TD_OK;
  Snapshot want, got;
  want.add(early);
  got.add(late);
  c.wrong = difference(got, want, false);
  return TD_OK;
}

const Operation rows[] = {{"td_index (read late)", reads, read_late}};

}  // namespace

void add_view_rows(std::vector<Operation> &all) {
  all.insert(all.end(), std::begin(rows), std::end(rows));
}

}  // namespace attack
