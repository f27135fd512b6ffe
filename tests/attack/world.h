// A world: pieces of memory, tensors over them that overlap, and dictionaries of these. A plan of it is drawn once and
// built several times: with the memory shared as planned, or with memory of its own for every tensor.
#pragma once

#include "choices.h"
#include "tensordict/td.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace attack {

using Sizes = std::vector<std::int64_t>;

struct ArenaPlan {
  td_dtype dtype = TD_DTYPE_INT64;
  std::int64_t elements = 0;
  int filling = 0;  // which small numbers
};

struct TensorPlan {
  int arena = 0;
  td_dtype dtype = TD_DTYPE_INT64;  // that of the arena, or another one over the same bytes
  Sizes sizes, strides;
  std::int64_t offset = 0;
  bool foreign = false;  // wraps the memory by itself: another storage over the same bytes
  bool grad = false;
  bool tangled = false;  // it overlaps itself in a way that ATen does not look for
};

struct ItemPlan {
  td_index_kind kind = TD_INDEX_ELLIPSIS;
  std::int64_t start = 0, stop = 0, step = 1;
  int tensor = -1;
};

enum class DictKind {
  dense,
  lazy,
  sub,
  index,
  expand,
  permute,
  clone,
  stack,
  consolidated,
  mapped,
  detach,
  row  // the last one that unbinding gives
};

struct EntryPlan {
  std::string key;
  enum Kind { tensor, dict, json, nested } kind = tensor;
  int id = 0;  // of a tensor or a dictionary
};

struct DictPlan {
  DictKind kind = DictKind::dense;
  Sizes batch;  // as planned; what a view has is asked of the library
  std::vector<EntryPlan> entries;
  std::vector<int> elements;  // of a stack; the one behind a view
  std::int64_t dim = 0;
  std::vector<ItemPlan> items;
};

// What happens to the world after it was built.
struct EventPlan {
  enum Kind { poke, lock, resize, drop, put, unlock, lock_nested, name } kind = poke;
  int dict = 0, tensor = 0;
  std::string key;
  std::int64_t arena = 0, element = 0, value = 0;
  Sizes batch;
};

struct Plan {
  Sizes base;
  std::vector<ArenaPlan> arenas;
  std::vector<TensorPlan> tensors;
  std::vector<DictPlan> dicts;
  std::vector<EventPlan> events;
  bool grad_mode = false;  // the library's while the operation runs
  bool grads = false;      // some tensor requires gradients
  bool lazy() const;       // there is a lazy stack

  explicit Plan(Choices &choices);
  // The tensors of a dictionary: through entries, elements, views.
  void reach(std::size_t dict, std::set<int> &tensors) const;
  void reach_dicts(std::size_t dict, std::set<std::size_t> &dicts) const;  // itself, too
  bool mixes_dtypes() const;  // the elements of a lazy stack differ in the dtype of a key
  std::string text() const;
};

// Whether memory is shared as planned, or each tensor has its own. Then each dictionary too, where nothing happens later;
// not in what is lent to a call that writes: a dictionary in several places beside one in several places is written once.
// `dense`: as `own`, and lazy stacks are read out.
enum class Memory { shared, own, lent, dense };

// A piece of memory between two guards.
struct Piece {
  std::unique_ptr<unsigned char[]> bytes;
  std::size_t size = 0;
  std::shared_ptr<void> base;  // a tensor over all of it
  unsigned char *begin() const { return bytes.get() + 64; }
};

class World {
 public:
  World(const Plan &plan, Memory memory);
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  const Plan &plan;
  std::vector<td_tensordict *> dicts;
  std::vector<td_tensor *> tensors;
  std::string bad_status;  // of a step of building, when it is one that must never be

  std::string memory() const;            // all bytes of all pieces
  std::string guards() const;            // "", or what was written beside a piece
  bool trees() const { return trees_; }  // no dictionary stands in two places
  // Puts the first element into the place of each lazy stack. False where there is one that has none.
  bool take_elements();
  bool even() const { return even_; }  // every lazy stack could be read out

 private:
  td_tensor *tensor(int id);
  td_tensordict *build(int id);
  td_tensordict *entry(int id);
  void read_out(td_tensordict *&lazy);
  void poke(const EventPlan &event, const Piece &piece) const;
  void happen(const EventPlan &event);
  void note(td_status status);

  Memory memory_;
  bool trees_ = false, even_ = true;
  std::vector<EventPlan> pokes_;            // so far: memory that is made later has them too
  std::vector<std::vector<Piece>> pieces_;  // of each arena: one, or one for each tensor over it
  std::vector<std::vector<td_tensordict *>>
      copies_;                     // of each dictionary: those that were built for a parent
  std::vector<td_tensor *> made_;  // by entries
};

// An index from a plan, for a world.
struct Items {
  std::vector<td_index_item> items;
  Items() = default;
  Items(const World &world, const std::vector<ItemPlan> &plan);
};

// An index for a batch size; its tensors are those of the plan.
std::vector<ItemPlan> random_items(Choices &choices, const Sizes &batch, const Plan &plan);
std::string text_of(const std::vector<ItemPlan> &items);
std::string text_of(const Sizes &sizes);

std::size_t size_of(td_dtype dtype);

// A value among the dtype's small numbers, written into bytes.
void put_number(td_dtype dtype, std::int64_t value, unsigned char *at);

// Where the mapped dictionary of all rounds lies.
void set_folder(std::string folder);

}  // namespace attack
