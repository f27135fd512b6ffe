// One row an operation: how it is called with arguments that were drawn, and what may be compared.
#pragma once

#include "snapshot.h"
#include "world.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace attack {

enum Flags : unsigned {
  reads = 0,
  writes = 1,    // the first dictionary or tensor changes
  rounded = 2,   // numbers with a point may differ by little
  layout = 4,    // what comes out tells where things lie: it is not compared
  slow = 8,      // files: tried rarely
  steps = 16,    // several calls: what the first ones did stays after a failure
  streams = 32,  // reads while it writes: a source that shares memory shows what was written
  stores =
      64,  // may keep tensors of its source: they show what is written to memory that they share
};

// One call: its arguments come from two worlds, those that are written from the first, the others from the second.
class Call {
 public:
  Call(World &world, World &lent, Choices &choices)
      : world_(world), lent_(lent), choices(choices) {}
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  // Arguments. Each is told.
  td_tensordict *target();
  td_tensor *target_tensor();
  const td_tensordict *source();  // any dictionary, sometimes a view of it
  const td_tensordict *source_like(const td_tensordict *td);    // likely of the same keys
  const td_tensordict *source_beside(const td_tensordict *td);  // never the same dictionary
  const td_tensordict *part_of(const Items &items, const std::vector<ItemPlan> &plan,
                               const Sizes &batch);
  const td_tensor *tensor();
  // Likely of these sizes. `counts`: memory is asked for by its numbers, which are small.
  const td_tensor *tensor_of(const Sizes &batch, bool counts = false);
  const td_tensor *mask(const Sizes &batch);
  const Items &items(const Sizes &batch);
  const std::vector<const char *> &path(const td_tensordict *td);
  const std::vector<const char *> &new_path();
  std::vector<td_key> &keys(const td_tensordict *td);
  const std::vector<const td_tensordict *> &several();
  td_operand operand(const td_tensordict *td);
  std::int64_t dim(const Sizes &batch);
  Sizes &sizes(Sizes sizes);
  std::int64_t number(std::int64_t first, std::int64_t last);
  bool flag(const char *name);
  std::uint32_t flags(const char *name, std::uint32_t set) { return flag(name) ? set : 0; }
  static Sizes batch(const td_tensordict *td);
  void tell(const std::string &argument) { told += (told.empty() ? "" : ", ") + argument; }

  // Where results go. They are compared and freed.
  td_tensordict **dict();
  td_tensor **out_tensor();
  std::int32_t *out_flag();
  std::size_t *out_count();
  char *out_text();
  td_keys **out_keys();
  td_tensordict **dicts(std::size_t room);
  static constexpr std::size_t text_room = 4096;

  const Plan &plan() const { return world_.plan; }
  const World &lent() const { return lent_; }
  // Frees with the call.
  void keep(td_tensordict *td) { kept_.push_back(td); }
  void keep(td_tensor *tensor) { kept_tensors_.push_back(tensor); }

  // Everything that came out, and what was written, as it is now.
  Snapshot outcome(bool with_results, Form form = Form::whole) const;
  // The entries of all dictionaries that came out or were written; with a dimension those of the first element.
  Snapshot entries(std::optional<std::int64_t> dim) const;
  // Which lazy stack is the one dictionary among the arguments, where no tensor is.
  std::optional<std::size_t> one_stack() const;
  std::string results_left() const;  // after a failure: "", or which result is not NULL

  std::string told;
  std::string wrong;        // a row that knows the answer: what is wrong with it
  bool itself = false;      // a source is the target
  bool broadcasts = false;  // a dictionary is written where the batch size is another
  // Dictionaries that are changed: their numbers in the plan.
  const std::set<std::size_t> &changed() const { return changed_; }
  // A target holds what overlaps itself: ATen promises no order in which it is written.
  bool tangled() const;
  // A tensor is in a source and in a target: it may be written into itself.
  bool same_tensor() const;
  // A dictionary is in both: once stored, it shows what is written into it.
  bool same_dict() const;
  std::vector<ItemPlan> last_items;

 private:
  World &world_;
  World &lent_;

 public:
  Choices &choices;

 private:
  std::set<int> targets_, sources_;  // tensors
  std::set<std::size_t> changed_;
  std::vector<std::size_t> drawn_;  // dictionaries
  bool drew_tensor_ = false;
  std::vector<const td_tensordict *> written_;
  std::vector<const td_tensor *> written_tensors_;
  std::deque<Items> items_;
  std::deque<std::vector<const char *>> paths_;
  std::deque<std::vector<td_key>> keys_;
  std::deque<Sizes> sizes_;
  std::deque<std::vector<const td_tensordict *>> several_;
  std::deque<std::string> texts_;
  std::vector<td_tensordict *> kept_;
  std::vector<td_tensor *> kept_tensors_;
  std::deque<td_tensordict *> dicts_;
  std::deque<td_tensor *> tensors_;
  std::deque<std::int32_t> flags_;
  std::deque<std::size_t> counts_;
  std::deque<td_keys *> key_lists_;
  std::deque<std::vector<td_tensordict *>> rows_;
  std::deque<std::string> out_texts_;
};

struct Operation {
  const char *name;
  unsigned flags;
  td_status (*call)(Call &);
};

// All rows, in one order.
const std::vector<Operation> &operations();

void add_key_rows(std::vector<Operation> &rows);
void add_tensor_rows(std::vector<Operation> &rows);
void add_shape_rows(std::vector<Operation> &rows);
void add_math_rows(std::vector<Operation> &rows);
void add_kind_rows(std::vector<Operation> &rows);
void add_file_rows(std::vector<Operation> &rows);
void add_checked_rows(std::vector<Operation> &rows);
void add_view_rows(std::vector<Operation> &rows);

// A folder for the files of this process.
const std::string &scratch();

}  // namespace attack
