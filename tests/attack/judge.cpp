#include "judge.h"

#include "beside.h"

#include <unistd.h>
#include <algorithm>
#include <cstring>

namespace attack {

namespace {

std::string &scratch_folder() {
  static auto *const folder = new std::string;
  return *folder;
}

const Operation &pick(Choices &choices, const Rules &rules) {
  static const auto *const weighted = [] {
    auto *rows = new std::vector<std::size_t>;
    for (std::size_t i = 0; i < operations().size(); ++i) {
      const unsigned flags = operations()[i].flags;
      const std::size_t weight = (flags & slow) != 0 ? 1 : (flags & writes) != 0 ? 16 : 10;
      rows->insert(rows->end(), weight, i);
    }
    return rows;
  }();
  const Operation &drawn = operations()[choices.of(*weighted)];
  if (rules.only.empty()) return drawn;
  const std::string &name = rules.only[static_cast<std::size_t>(drawn.name[3]) % rules.only.size()];
  for (const Operation &one : operations()) {
    if (name == one.name) return one;
  }
  return drawn;
}

// The library's own account of a call that failed.
struct Failed {
  td_status status = TD_OK;
  std::string message;

  explicit Failed(td_status given) : status(given) {
    if (status != TD_OK) message = td_last_error_message();
  }
  std::string text() const {
    return status == TD_OK ? "TD_OK" : std::string(td_status_name(status)) + " (" + message + ")";
  }

  std::string wrong() const {
    if (status == TD_OK) return "";
    if (status == TD_ERR_INTERNAL || status == TD_ERR_OUT_OF_MEMORY ||
        status == TD_ERR_DEVICE_OUT_OF_MEMORY)
      return "bad status: " + text();
    if (std::strcmp(td_status_name(status), "TD_ERR_UNKNOWN") == 0 && status > -10000)
      return "no such status: " + std::to_string(status);
    if (status <= -10000) return "";
    if (message.empty()) return std::string("no message: ") + td_status_name(status);
    if (message.find('\n') != std::string::npos) return "message of several lines: " + text();
    return "";
  }

  // A target that ATen writes to under no circumstances.
  bool refuses_target() const {
    for (const char *words : {"single memory location", "one place in memory", "leaf Variable",
                              "requires a gradient itself", "no gradients were recorded"}) {
      if (message.find(words) != std::string::npos) return true;
    }
    return false;
  }

  // What ATen refuses where an operand overlaps a target is refused here too. It is the one thing that may fail with
  // shared memory and not without. A dictionary that would lie inside itself is the other: its copy would not.
  bool may_differ(const Operation &operation) const {
    if (status == TD_ERR_CYCLE) return true;
    return (operation.flags & (writes | rounded)) == (writes | rounded) &&
           message.find("single memory location") != std::string::npos;
  }
};

Snapshot snapshot(const World &world) {
  Snapshot all;
  for (const td_tensordict *td : world.dicts) all.add(td);
  for (const td_tensor *tensor : world.tensors) all.add(tensor);
  return all;
}

// Does not tell which tensors require gradients.
Snapshot without_grad(Snapshot seen) {
  static const std::string word = " grad\n";
  for (std::size_t at = 0; (at = seen.form.find(word, at)) != std::string::npos;)
    seen.form.erase(at, word.size() - 1);
  return seen;
}

bool can_be_cloned(const td_tensordict *td) {
  td_tensordict *copy = nullptr;
  const bool can = td_clone(td, 0, &copy) == TD_OK;
  td_free(copy);
  return can;
}

// A dictionary that cannot be read, although all could be before the call. What else holds a part of it may be refused: it
// says that its part has another batch size.
std::string broken(const World &world, const Call &call, const Plan &plan) {
  for (const std::size_t i : call.changed()) {
    if (can_be_cloned(world.dicts[i])) continue;
    const std::string message = td_last_error_message();
    const World fresh(plan, Memory::shared);
    if (std::all_of(fresh.dicts.begin(), fresh.dicts.end(), can_be_cloned))
      return "broke dictionary " + std::to_string(i) + ": " + message;
  }
  return "";
}

std::string compare(const Plan &plan, const Operation &operation, Choices &choices,
                    std::string &told) {
  const bool changes = (operation.flags & writes) != 0;
  // Where no tensor wants gradients, recording them changes nothing but the path through the library.
  const bool other_mode = !plan.grads && choices.chance(50) ? !plan.grad_mode : plan.grad_mode;
  const std::size_t arguments = choices.at();

  World world(plan, Memory::shared);
  if (!world.bad_status.empty()) return "building: " + world.bad_status;
  const std::string before = world.memory();
  Call call(world, world, choices);
  Failed failed(TD_OK);
  {
    const GradMode mode(plan.grad_mode);
    failed = Failed(operation.call(call));
  }
  told = call.told;
  const std::string wrong = failed.wrong();
  if (!wrong.empty()) return wrong;
  if (failed.status != TD_OK) {
    if ((operation.flags & steps) == 0) {
      const std::string left = call.results_left();
      if (!left.empty()) return "after a failure " + left + ": " + failed.text();
      if (world.memory() != before) return "changed after a failure: values, " + failed.text();
      const World fresh(plan, Memory::shared);
      const std::string changed = difference(snapshot(world), snapshot(fresh), false);
      if (!changed.empty()) return "changed after a failure: " + changed + ", " + failed.text();
    }
  }
  if (failed.status == TD_OK && changes) {
    const std::string what = broken(world, call, plan);
    if (!what.empty()) return what;
  }
  if (failed.status == TD_OK && !call.wrong.empty()) return "wrong: " + call.wrong;
  const Snapshot got = call.outcome(failed.status == TD_OK);
  const std::string after = world.memory();
  if (!changes && after != before) return "changed what it reads";
  std::string guards = world.guards();
  if (!guards.empty()) return guards;

  // A dictionary updated with itself does nothing at all, also where it would refuse another one.
  if (call.itself && std::strcmp(operation.name, "td_update") == 0)
    return after == before ? "" : "differs: updated with itself";

  // The same with memory of its own for each tensor that is read, and for all when nothing is written.
  World own(plan, Memory::lent);
  World twin(plan, changes ? Memory::shared : Memory::own);
  if (!own.bad_status.empty()) return "building: " + own.bad_status;
  choices.rewind(arguments);
  const bool lends = changes && (operation.flags & streams) == 0;
  Call again(twin, lends ? own : twin, choices);
  Failed want(TD_OK);
  {
    const GradMode mode(other_mode);
    want = Failed(operation.call(again));
  }
  if (failed.status != want.status) {
    if (failed.may_differ(operation)) return "";  // also before something else that cannot be
    // A tensor written into itself: ATen does nothing, also where it would refuse another one. What comes behind it
    // may still fail.
    if (want.refuses_target() && (failed.status != TD_OK || call.same_tensor() || after == before))
      return "";
    // Nor does a source that is made of the target's own dictionaries: no lock is asked for nothing.
    if (failed.status == TD_OK && want.status == TD_ERR_LOCKED && after == before &&
        difference(snapshot(world), snapshot(World(plan, Memory::shared)), false).empty())
      return "";
    return "status: " + failed.text() + " where it should be " + want.text() +
           (other_mode != plan.grad_mode ? " (the other grad mode)" : "");
  }
  if (failed.status != TD_OK || (operation.flags & layout) != 0) return "";
  const bool equal_memory = after == twin.memory();
  std::string different = difference(got, again.outcome(true), (operation.flags & rounded) != 0);
  if (different.empty() && changes && (operation.flags & rounded) == 0 && !equal_memory)
    different = "memory of others";
  // A recorded write reaches all that share its memory, so also what the call reads.
  if (!different.empty() && changes && plan.grads &&
      difference(without_grad(got), without_grad(again.outcome(true)),
                 (operation.flags & rounded) != 0)
          .empty())
    return "";
  // All that was written is right, and a tensor that was stored shows it.
  const bool values = different.compare(0, 6, "values") == 0;
  if ((operation.flags & stores) != 0 && equal_memory &&
      ((values && after != before) || call.same_dict()))
    return "";
  if (call.tangled() && (values || !equal_memory)) return "";
  if (!different.empty())
    return "differs: " + different + (other_mode != plan.grad_mode ? " (the other grad mode)" : "");
  return plan.lazy() && !plan.grads ? compare_kinds(plan, operation, choices, arguments) : "";
}

}  // namespace

const std::string &scratch() { return scratch_folder(); }

void begin_process(const std::string &folder) {
  scratch_folder() = folder;
  td_tensordict *td = nullptr, *mapped = nullptr;
  const std::int64_t sizes[] = {4, 2};
  (void)td_create(sizes, 1, TD_DEVICE_NONE, -1, &td);
  td_tensor *a = nullptr, *b = nullptr;
  const std::int64_t values[] = {3, 0, 1, 2};
  (void)td_tensor_from_data(values, sizeof values, sizes, 1, TD_DTYPE_INT64, &a);
  (void)td_tensor_zeros(sizes, 2, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &b);
  const char *const one[] = {"a"};
  const char *const two[] = {"b"};
  (void)td_set(td, one, 1, a);
  (void)td_set(td, two, 1, b);
  (void)td_memmap(td, (folder + "/mapped").c_str(), nullptr, &mapped);
  td_free(td);
  td_free(mapped);
  td_tensor_free(a);
  td_tensor_free(b);
  set_folder(folder + "/mapped");
}

Verdict judge(Choices &choices, const Rules &rules) {
  Verdict verdict;
  const std::int64_t live = td_debug_live_handles();
  const Operation &operation = pick(choices, rules);
  verdict.operation = operation.name;
  if (std::find(rules.without.begin(), rules.without.end(), operation.name) !=
      rules.without.end()) {
    verdict.skipped = true;
    return verdict;
  }
  const Plan plan(choices);
  verdict.failure = compare(plan, operation, choices, verdict.told);
  if (verdict.failure.empty() && td_debug_live_handles() != live)
    verdict.failure = "handles are left open";
  if (!verdict.failure.empty() || rules.tell) {
    verdict.told = plan.text() + "  " + operation.name + "(" + verdict.told + ")";
  }
  return verdict;
}

}  // namespace attack
