// The plan of a world: what is drawn, and how it is told.
#include "world.h"

#include <algorithm>
#include <map>

namespace attack {

namespace {

const std::vector<td_dtype> dtypes = {
    TD_DTYPE_INT64,    TD_DTYPE_FLOAT32, TD_DTYPE_INT64, TD_DTYPE_FLOAT32,   TD_DTYPE_BOOL,
    TD_DTYPE_INT32,    TD_DTYPE_FLOAT64, TD_DTYPE_UINT8, TD_DTYPE_FLOAT16,   TD_DTYPE_COMPLEX64,
    TD_DTYPE_BFLOAT16, TD_DTYPE_INT16,   TD_DTYPE_INT8,  TD_DTYPE_COMPLEX128};
const std::vector<std::string> names = {"a", "b", "i", "n", "c", "long name", ""};

bool starts_with(const Sizes &sizes, const Sizes &front) {
  return sizes.size() >= front.size() && std::equal(front.begin(), front.end(), sizes.begin());
}

// Whether several elements lie in one place although no dimension is expanded: ATen writes such tensors, in no
// order that it promises.
bool tangled(const TensorPlan &plan) {
  std::vector<std::int64_t> places = {0};
  for (std::size_t d = 0; d < plan.sizes.size(); ++d) {
    if (plan.strides[d] == 0 && plan.sizes[d] > 1) return false;
    const std::size_t n = places.size();
    for (std::int64_t i = 1; i < plan.sizes[d]; ++i) {
      for (std::size_t k = 0; k < n; ++k) places.push_back(places[k] + i * plan.strides[d]);
    }
    if (plan.sizes[d] == 0) return false;
  }
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

bool can_index(td_dtype dtype) {
  return dtype == TD_DTYPE_INT64 || dtype == TD_DTYPE_INT32 || dtype == TD_DTYPE_BOOL ||
         dtype == TD_DTYPE_UINT8;
}

std::int64_t random_size(Choices &choices) {
  return choices.chance(5) ? 0 : 1 + (2 + choices.below(4)) % 4;
}

class Drawing {
 public:
  Drawing(Plan &plan, Choices &choices) : plan_(plan), choices_(choices) {}

  void all() {
    static const std::vector<std::int64_t> numbers_of_dims = {1, 2, 2, 0, 1, 2, 3};
    const std::int64_t dims = choices_.of(numbers_of_dims);
    for (std::int64_t i = 0; i < dims; ++i) plan_.base.push_back(random_size(choices_));
    const std::int64_t arenas = 1 + choices_.below(3);
    recorded_ = choices_.chance(8);
    for (std::int64_t i = 0; i < arenas; ++i) {
      ArenaPlan arena;
      arena.dtype = recorded_ && choices_.chance(80) ? TD_DTYPE_FLOAT32 : choices_.of(dtypes);
      arena.elements = 48;
      arena.filling = static_cast<int>(choices_.below(7));
      plan_.arenas.push_back(arena);
    }
    const std::int64_t indices = choices_.below(3);
    for (std::int64_t i = 0; i < indices; ++i) index_tensor();
    const std::int64_t dicts = 1 + choices_.below(4);
    for (std::int64_t i = 0; i < dicts; ++i) dict(i == 0);
    const std::int64_t events = std::max<std::int64_t>(0, choices_.below(5) - 2);
    for (std::int64_t i = 0; i < events; ++i) event();
    plan_.grad_mode = recorded_ || choices_.chance(25);
  }

 private:
  Plan &plan_;
  Choices &choices_;
  bool recorded_ = false;  // gradients of many tensors

  // Integers or a mask along the first dimensions of the base, over memory that others have too.
  void index_tensor() {
    Sizes sizes;
    if (!plan_.base.empty())
      sizes.push_back(choices_.chance(70) ? plan_.base[0] : choices_.below(4));
    if (choices_.chance(20)) sizes = choices_.chance(50) ? Sizes{} : plan_.base;
    for (std::size_t i = 0; i < plan_.arenas.size(); ++i) {
      if (can_index(plan_.arenas[i].dtype)) {
        tensor(sizes, static_cast<int>(i));
        return;
      }
    }
    plan_.arenas[0].dtype = choices_.chance(30) ? TD_DTYPE_BOOL : TD_DTYPE_INT64;
    if (plan_.tensors.empty()) tensor(sizes, 0);
  }

  int tensor(const Sizes &sizes, int arena = -1) {
    TensorPlan plan;
    plan.arena =
        arena >= 0
            ? arena
            : static_cast<int>(choices_.below(static_cast<std::int64_t>(plan_.arenas.size())));
    const ArenaPlan &memory = plan_.arenas[static_cast<std::size_t>(plan.arena)];
    plan.dtype = memory.dtype;
    std::int64_t room = memory.elements;
    if (arena < 0 && choices_.chance(4) && memory.dtype != TD_DTYPE_BOOL) {
      const td_dtype other = choices_.of(dtypes);
      const std::size_t bytes = static_cast<std::size_t>(room) * size_of(memory.dtype);
      if (other != TD_DTYPE_BOOL && bytes % size_of(other) == 0) {
        plan.dtype = other;
        room = static_cast<std::int64_t>(bytes / size_of(other));
      }
    }
    plan.sizes = sizes;
    plan.strides = strides(sizes);
    std::int64_t extent = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] > 0) extent += (sizes[i] - 1) * plan.strides[i];
    }
    if (extent > room) {
      for (std::int64_t &stride : plan.strides) stride = stride > 1 ? 1 : stride;
      extent = 1;
      for (std::size_t i = 0; i < sizes.size(); ++i)
        extent += std::max<std::int64_t>(0, sizes[i] - 1) * plan.strides[i];
    }
    if (extent > room) {
      std::fill(plan.strides.begin(), plan.strides.end(), 0);
      extent = 1;
    }
    plan.offset =
        choices_.chance(60) ? choices_.below(std::min<std::int64_t>(room - extent + 1, 6)) : 0;
    plan.foreign = choices_.chance(recorded_ ? 25 : 10);
    const bool floats = plan.dtype == TD_DTYPE_FLOAT32 || plan.dtype == TD_DTYPE_FLOAT64 ||
                        plan.dtype == TD_DTYPE_COMPLEX64;
    plan.grad = floats && choices_.chance(recorded_ ? 30 : 8);
    plan_.grads = plan_.grads || plan.grad;
    plan.tangled = tangled(plan);
    plan_.tensors.push_back(plan);
    return static_cast<int>(plan_.tensors.size()) - 1;
  }

  Sizes strides(const Sizes &sizes) {
    Sizes strides(sizes.size(), 1);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < sizes.size(); ++i) order.push_back(i);
    const std::int64_t layout = std::max<std::int64_t>(0, choices_.below(9) - 3);
    if (layout == 1 || layout == 4) std::reverse(order.begin(), order.end());
    std::int64_t stride = layout == 3 || layout == 4 ? 2 : 1;
    for (std::size_t k = order.size(); k-- > 0;) {
      strides[order[k]] = stride;
      stride *= std::max<std::int64_t>(1, sizes[order[k]]);
    }
    if (layout == 2 && !sizes.empty())
      strides[static_cast<std::size_t>(choices_.below(static_cast<std::int64_t>(sizes.size())))] =
          0;
    if (layout == 5) std::fill(strides.begin(), strides.end(), 1);
    return strides;
  }

  int fitting_tensor(const Sizes &batch) {
    std::vector<int> fit;
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
      if (starts_with(plan_.tensors[i].sizes, batch)) fit.push_back(static_cast<int>(i));
    }
    if (!fit.empty() && choices_.chance(45)) return choices_.of(fit);
    Sizes sizes = batch;
    if (choices_.chance(35)) sizes.push_back(1 + choices_.below(3));
    return tensor(sizes);
  }

  void dict(bool first) {
    DictPlan plan;
    const std::int64_t kind = first ? 0 : choices_.below(100);
    if (kind < 50) {
      dense(plan);
    } else if (kind < 64) {
      plan.kind = DictKind::lazy;
      stack(plan);
    } else if (kind < 80) {
      plan.kind = kind < 74 ? DictKind::sub : DictKind::index;
      plan.elements = {choices_.chance(40) ? lazy_dict() : any_dict()};
      const Sizes &batch = plan_.dicts[static_cast<std::size_t>(plan.elements[0])].batch;
      plan.items = random_items(choices_, batch, plan_);
      plan.batch = indexed(batch, plan.items);
    } else {
      static const std::vector<DictKind> kinds = {
          DictKind::clone,        DictKind::expand, DictKind::permute, DictKind::stack,
          DictKind::consolidated, DictKind::mapped, DictKind::detach,  DictKind::row};
      plan.kind = choices_.of(kinds);
      if (plan.kind == DictKind::stack) {
        stack(plan);
      } else if (plan.kind == DictKind::mapped) {
        plan.batch = {4};
      } else {
        plan.elements = {any_dict()};
        plan.batch = plan_.dicts[static_cast<std::size_t>(plan.elements[0])].batch;
        if (plan.kind == DictKind::expand) plan.batch.insert(plan.batch.begin(), choices_.below(4));
        if (plan.kind == DictKind::permute) std::reverse(plan.batch.begin(), plan.batch.end());
        if (plan.kind == DictKind::row && !plan.batch.empty()) plan.batch.erase(plan.batch.begin());
      }
    }
    plan_.dicts.push_back(plan);
  }

  int any_dict() {
    return static_cast<int>(choices_.below(static_cast<std::int64_t>(plan_.dicts.size())));
  }

  // The last lazy stack, if there is one.
  int lazy_dict() {
    for (std::size_t i = plan_.dicts.size(); i-- > 0;) {
      if (plan_.dicts[i].kind == DictKind::lazy) return static_cast<int>(i);
    }
    return any_dict();
  }

  // A dictionary like another one, of other tensors, sometimes with an entry less or more.
  int variant_of(int id) {
    DictPlan plan = plan_.dicts[static_cast<std::size_t>(id)];
    if (plan.kind != DictKind::dense) return id;
    for (EntryPlan &entry : plan.entries) {
      if (entry.kind == EntryPlan::tensor)
        entry.id = tensor(Sizes(plan_.tensors[static_cast<std::size_t>(entry.id)].sizes));
    }
    if (choices_.chance(30) && !plan.entries.empty()) plan.entries.pop_back();
    if (choices_.chance(30)) {
      EntryPlan more;
      more.key = choices_.of(names);
      more.id = fitting_tensor(plan.batch);
      plan.entries.push_back(more);
    }
    plan_.dicts.push_back(plan);
    return static_cast<int>(plan_.dicts.size()) - 1;
  }

  void stack(DictPlan &plan) {
    const std::int64_t n = 1 + choices_.below(3);
    const bool alike = choices_.chance(60);
    for (std::int64_t i = 0; i < n; ++i)
      plan.elements.push_back(alike && i != 0 ? variant_of(plan.elements[0]) : any_dict());
    plan.batch = plan_.dicts[static_cast<std::size_t>(plan.elements[0])].batch;
    plan.dim = choices_.below(static_cast<std::int64_t>(plan.batch.size()) + 1);
    plan.batch.insert(plan.batch.begin() + plan.dim, n);
  }

  void dense(DictPlan &plan) {
    plan.batch = plan_.base;
    const std::int64_t form = choices_.below(20);
    if (form == 17 && !plan.batch.empty()) plan.batch.pop_back();
    if (form == 18) plan.batch.push_back(random_size(choices_));
    if (form == 19 && !plan.batch.empty()) plan.batch[0] = random_size(choices_);
    const std::int64_t entries = (2 + choices_.below(5)) % 5;
    for (std::int64_t i = 0; i < entries; ++i) {
      EntryPlan entry;
      entry.key = choices_.chance(15) ? choices_.of(names) : names[static_cast<std::size_t>(i)];
      const std::int64_t kind = choices_.below(100);
      if (kind >= 65 && kind < 88) {
        std::vector<int> fit;
        for (std::size_t d = 0; d < plan_.dicts.size(); ++d) {
          if (starts_with(plan_.dicts[d].batch, plan.batch)) fit.push_back(static_cast<int>(d));
        }
        if (!fit.empty()) {
          entry.kind = EntryPlan::dict;
          entry.id = choices_.of(fit);
        }
      } else if (kind >= 88 && kind < 94) {
        entry.kind = EntryPlan::json;
        entry.id = static_cast<int>(choices_.below(4));
      } else if (kind >= 94 && plan.batch.size() == 1 && plan.batch[0] > 0) {
        entry.kind = EntryPlan::nested;
        entry.id = static_cast<int>(choices_.below(3));
      }
      if (entry.kind == EntryPlan::tensor) entry.id = fitting_tensor(plan.batch);
      plan.entries.push_back(entry);
    }
  }

  void event() {
    EventPlan event;
    event.kind = static_cast<EventPlan::Kind>(choices_.below(8));
    event.dict = any_dict();
    event.arena = choices_.below(static_cast<std::int64_t>(plan_.arenas.size()));
    event.element = choices_.below(plan_.arenas[static_cast<std::size_t>(event.arena)].elements);
    event.value = choices_.chance(30) ? choices_.below(120) : choices_.between(-1, 3);
    event.key = choices_.of(names);
    for (const EntryPlan &entry : plan_.dicts[static_cast<std::size_t>(event.dict)].entries) {
      if (entry.kind == EntryPlan::dict && choices_.chance(80)) event.key = entry.key;
    }
    if (!plan_.tensors.empty())
      event.tensor =
          static_cast<int>(choices_.below(static_cast<std::int64_t>(plan_.tensors.size())));
    event.batch = plan_.base;
    if (!event.batch.empty() && choices_.chance(50)) event.batch.pop_back();
    if (choices_.chance(40)) event.batch.push_back(random_size(choices_));
    plan_.events.push_back(event);
  }

  // What an index makes of a batch size, where that is easily said.
  static Sizes indexed(const Sizes &batch, const std::vector<ItemPlan> &items) {
    Sizes result;
    std::size_t at = 0;
    for (const ItemPlan &item : items) {
      if (item.kind == TD_INDEX_ELLIPSIS) break;
      if (item.kind == TD_INDEX_NONE) {
        result.push_back(1);
        continue;
      }
      if (at < batch.size() && item.kind == TD_INDEX_SLICE)
        result.push_back(std::max<std::int64_t>(
            0, (std::min(item.stop, batch[at]) - item.start + item.step - 1) / item.step));
      if (item.kind == TD_INDEX_TENSOR) result.push_back(2);
      ++at;
    }
    for (; at < batch.size(); ++at) result.push_back(batch[at]);
    return result;
  }
};

const char *const kind_names[] = {"dictionary",   "lazy stack", "sub-tensordict", "index",
                                  "expand",       "permute",    "clone",          "stack",
                                  "consolidated", "mapped",     "detach",         "row"};

}  // namespace

std::string text_of(const Sizes &sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(sizes[i]);
  return text + "]";
}

std::string text_of(const std::vector<ItemPlan> &items) {
  std::string text = "[";
  for (const ItemPlan &item : items) {
    if (text.size() > 1) text += ", ";
    switch (item.kind) {
      case TD_INDEX_INT: text += std::to_string(item.start); break;
      case TD_INDEX_SLICE:
        text += std::to_string(item.start) + ":" + std::to_string(item.stop) +
                (item.step == 1 ? "" : ":" + std::to_string(item.step));
        break;
      case TD_INDEX_ELLIPSIS: text += "..."; break;
      case TD_INDEX_NONE: text += "None"; break;
      case TD_INDEX_TENSOR: text += "t" + std::to_string(item.tensor); break;
      default: text += item.start != 0 ? "True" : "False"; break;
    }
  }
  return text + "]";
}

std::vector<ItemPlan> random_items(Choices &choices, const Sizes &batch, const Plan &plan) {
  std::vector<ItemPlan> items;
  std::vector<int> fit;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    if (can_index(plan.tensors[i].dtype) && plan.tensors[i].sizes.size() <= 2)
      fit.push_back(static_cast<int>(i));
  }
  const bool wrong = choices.chance(4);
  std::size_t at = 0;
  const auto used =
      static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(batch.size()) + 1));
  const std::size_t most = batch.empty() ? 0 : std::max<std::size_t>(1, used);
  while (at < most + (wrong ? 1 : 0)) {
    const std::int64_t size = at < batch.size() ? std::max<std::int64_t>(0, batch[at]) : 2;
    ItemPlan item;
    const std::int64_t kind = choices.below(20);
    if (kind < 5) {
      item.kind = TD_INDEX_SLICE;
      item.start = choices.below(size + 1);
      item.stop = std::min(size, item.start + choices.below(size + 1));
      item.step = 1 + choices.below(8) / 6;
      ++at;
    } else if (kind < 8 && (size > 0 || wrong)) {
      item.kind = TD_INDEX_INT;
      item.start = choices.below(std::max<std::int64_t>(1, size)) - (choices.chance(20) ? size : 0);
      ++at;
    } else if (kind < 16 && !fit.empty()) {
      item.kind = TD_INDEX_TENSOR;
      item.tensor = choices.of(fit);
      const TensorPlan &tensor = plan.tensors[static_cast<std::size_t>(item.tensor)];
      at += tensor.dtype == TD_DTYPE_BOOL || tensor.dtype == TD_DTYPE_UINT8
                ? std::max<std::size_t>(1, tensor.sizes.size())
                : 1;
    } else if (kind == 16) {
      item.kind = TD_INDEX_NONE;
    } else if (kind == 17) {
      item.kind = TD_INDEX_ELLIPSIS;
      at = batch.size() + 1;
    } else if (kind == 18) {
      item.kind = TD_INDEX_BOOL;
      item.start = choices.below(2);
    } else {
      item.kind = TD_INDEX_SLICE;
      item.stop = size;
      ++at;
    }
    items.push_back(item);
    if (items.size() > 5) break;
  }
  if (batch.empty() && choices.chance(70)) items.push_back(ItemPlan());
  return items;
}

Plan::Plan(Choices &choices) { Drawing(*this, choices).all(); }

bool Plan::lazy() const {
  return std::any_of(dicts.begin(), dicts.end(),
                     [](const DictPlan &dict) { return dict.kind == DictKind::lazy; });
}

namespace {

// Whether a key has tensors of several dtypes in a dictionary or in those that it is made of.
bool mixes_dtypes(const Plan &plan, int id, std::map<std::string, td_dtype> &dtypes) {
  const DictPlan &dict = plan.dicts[static_cast<std::size_t>(id)];
  for (const EntryPlan &entry : dict.entries) {
    if (entry.kind == EntryPlan::dict && mixes_dtypes(plan, entry.id, dtypes)) return true;
    if (entry.kind != EntryPlan::tensor) continue;
    const td_dtype dtype = plan.tensors[static_cast<std::size_t>(entry.id)].dtype;
    if (dtypes.emplace(entry.key, dtype).first->second != dtype) return true;
  }
  return std::any_of(dict.elements.begin(), dict.elements.end(),
                     [&](int element) { return mixes_dtypes(plan, element, dtypes); });
}

}  // namespace

bool Plan::mixes_dtypes() const {
  for (std::size_t i = 0; i < dicts.size(); ++i) {
    std::map<std::string, td_dtype> dtypes;
    if (dicts[i].kind == DictKind::lazy && attack::mixes_dtypes(*this, static_cast<int>(i), dtypes))
      return true;
  }
  return false;
}

void Plan::reach_dicts(std::size_t dict, std::set<std::size_t> &reached) const {
  if (!reached.insert(dict).second) return;
  for (const EntryPlan &entry : dicts[dict].entries) {
    if (entry.kind == EntryPlan::dict) reach_dicts(static_cast<std::size_t>(entry.id), reached);
  }
  for (const int element : dicts[dict].elements)
    reach_dicts(static_cast<std::size_t>(element), reached);
}

void Plan::reach(std::size_t dict, std::set<int> &reached) const {
  for (const EventPlan &event : events) {
    if (event.kind == EventPlan::put) reached.insert(event.tensor);
  }
  for (const EntryPlan &entry : dicts[dict].entries) {
    if (entry.kind == EntryPlan::tensor) reached.insert(entry.id);
    if (entry.kind == EntryPlan::dict) reach(static_cast<std::size_t>(entry.id), reached);
  }
  for (const int element : dicts[dict].elements) reach(static_cast<std::size_t>(element), reached);
}

std::string Plan::text() const {
  std::string text;
  for (std::size_t i = 0; i < arenas.size(); ++i) {
    text += "  memory " + std::to_string(i) + ": " + td_dtype_name(arenas[i].dtype) + " [" +
            std::to_string(arenas[i].elements) + "], filling " + std::to_string(arenas[i].filling) +
            "\n";
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorPlan &t = tensors[i];
    text += "  t" + std::to_string(i) + ": " + td_dtype_name(t.dtype) + " " + text_of(t.sizes) +
            " in memory " + std::to_string(t.arena) + " from " + std::to_string(t.offset) +
            ", strides " + text_of(t.strides) + (t.foreign ? ", a storage of its own" : "") +
            (t.grad ? ", requires gradients" : "") + "\n";
  }
  for (std::size_t i = 0; i < dicts.size(); ++i) {
    const DictPlan &d = dicts[i];
    text += "  d" + std::to_string(i) + ": " + kind_names[static_cast<std::size_t>(d.kind)];
    if (d.kind == DictKind::dense) {
      text += " " + text_of(d.batch) + " {";
      for (const EntryPlan &entry : d.entries) {
        static const char *const kinds[] = {"t", "d", "json ", "nested "};
        text += (text.back() == '{' ? "" : ", ") + entry.key + ": " + kinds[entry.kind] +
                std::to_string(entry.id);
      }
      text += "}";
    }
    for (const int element : d.elements) text += " d" + std::to_string(element);
    if (d.kind == DictKind::sub || d.kind == DictKind::index) text += text_of(d.items);
    if (d.kind == DictKind::lazy || d.kind == DictKind::stack)
      text += " along " + std::to_string(d.dim);
    if (d.kind == DictKind::expand) text += " to " + text_of(d.batch);
    text += "\n";
  }
  for (const EventPlan &event : events) {
    const std::string d = "d" + std::to_string(event.dict);
    switch (event.kind) {
      case EventPlan::poke:
        text += "  then: memory " + std::to_string(event.arena) + "[" +
                std::to_string(event.element) + "] = " + std::to_string(event.value);
        break;
      case EventPlan::lock: text += "  then: lock " + d; break;
      case EventPlan::unlock: text += "  then: unlock " + d; break;
      case EventPlan::lock_nested: text += "  then: lock " + d + "." + event.key; break;
      case EventPlan::resize:
        text += "  then: batch size of " + d + "." + event.key + " to " + text_of(event.batch);
        break;
      case EventPlan::drop: text += "  then: remove " + d + "." + event.key; break;
      case EventPlan::name: text += "  then: names of " + d; break;
      case EventPlan::put:
        text += "  then: " + d + "." + event.key + ".a = t" + std::to_string(event.tensor);
        break;
    }
    text += "\n";
  }
  if (grad_mode) text += "  gradients are on\n";
  return text;
}

}  // namespace attack
