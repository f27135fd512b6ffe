// Builds a world from its plan.
#include "world.h"

#include "snapshot.h"

#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/version.h>

#include <cstring>
#include <limits>

namespace attack {

namespace {

constexpr int torch_number = 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR;
constexpr std::size_t guard = 64;
constexpr unsigned char guard_byte = 0xc5;

std::string &folder() {
  static auto *const folder = new std::string;
  return *folder;
}

c10::ScalarType torch_dtype(td_dtype dtype) {
  switch (dtype) {
    case TD_DTYPE_UINT8: return at::kByte;
    case TD_DTYPE_INT8: return at::kChar;
    case TD_DTYPE_INT16: return at::kShort;
    case TD_DTYPE_INT32: return at::kInt;
    case TD_DTYPE_INT64: return at::kLong;
    case TD_DTYPE_FLOAT16: return at::kHalf;
    case TD_DTYPE_FLOAT32: return at::kFloat;
    case TD_DTYPE_FLOAT64: return at::kDouble;
    case TD_DTYPE_COMPLEX64: return at::kComplexFloat;
    case TD_DTYPE_COMPLEX128: return at::kComplexDouble;
    case TD_DTYPE_BOOL: return at::kBool;
    default: return at::kBFloat16;
  }
}

template <class T>
void put(T value, unsigned char *at) {
  std::memcpy(at, &value, sizeof(T));
}

constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

// The i-th small number of a filling: most are positions of short dimensions.
std::int64_t filled(int filling, std::int64_t i) {
  switch (filling) {
    case 0: return i % 2;
    case 1: return (47 - i) % 3;
    case 2: return -1 - i % 2;
    case 3: return (5 * i + 1) % 4;
    case 4: return i;
    case 5: return i % 3 == 0 ? 2 : 1 - i % 2;
    default: return i % 4 == 1 ? smallest : -1;  // their quotient has no room
  }
}

Piece filled_piece(const ArenaPlan &plan) {
  Piece piece;
  const std::size_t item = size_of(plan.dtype);
  piece.size = static_cast<std::size_t>(plan.elements) * item;
  piece.bytes.reset(new unsigned char[piece.size + 2 * guard]);
  std::memset(piece.bytes.get(), guard_byte, piece.size + 2 * guard);
  for (std::int64_t i = 0; i < plan.elements; ++i)
    put_number(plan.dtype, filled(plan.filling, i),
               piece.begin() + static_cast<std::size_t>(i) * item);
  piece.base = std::make_shared<at::Tensor>(
      at::from_blob(piece.begin(), {plan.elements}, at::dtype(torch_dtype(plan.dtype))));
  return piece;
}

td_tensor *handle(const at::Tensor &tensor) {
  td_tensor *result = nullptr;
  if (td_tensor_from_torch(tensor.unsafeGetTensorImpl(), torch_number, &result) != TD_OK)
    std::abort();
  return result;
}

td_tensor *tensor_over(const Piece &piece, const ArenaPlan &arena, const TensorPlan &plan) {
  const c10::ScalarType dtype = torch_dtype(plan.dtype);
  if (plan.foreign) {
    const at::Tensor tensor =
        at::from_blob(piece.begin() + static_cast<std::size_t>(plan.offset) * size_of(plan.dtype),
                      plan.sizes, plan.strides, at::dtype(dtype));
    if (plan.grad) tensor.unsafeGetTensorImpl()->set_requires_grad(true);
    return handle(tensor);
  }
  at::Tensor base = *static_cast<const at::Tensor *>(piece.base.get());
  if (plan.dtype != arena.dtype) base = base.view(dtype);
  at::Tensor tensor = base.as_strided(plan.sizes, plan.strides, plan.offset);
  if (plan.grad) tensor = tensor.detach().set_requires_grad(true);
  return handle(tensor);
}

}  // namespace

void set_folder(std::string where) { folder() = std::move(where); }

std::size_t size_of(td_dtype dtype) { return td_dtype_size(dtype); }

// A number, or the smallest one of the dtype.
template <class T>
void put_integer(std::int64_t value, unsigned char *at) {
  put(value == smallest ? std::numeric_limits<T>::min() : static_cast<T>(value), at);
}

void put_number(td_dtype dtype, std::int64_t value, unsigned char *at) {
  switch (dtype) {
    case TD_DTYPE_UINT8:
      return put_integer<std::uint8_t>(value < 0 && value != smallest ? -value : value, at);
    case TD_DTYPE_INT8: return put_integer<std::int8_t>(value, at);
    case TD_DTYPE_INT16: return put_integer<std::int16_t>(value, at);
    case TD_DTYPE_INT32: return put_integer<std::int32_t>(value, at);
    case TD_DTYPE_INT64: return put(value, at);
    case TD_DTYPE_FLOAT16: return put(c10::Half(static_cast<float>(value)), at);
    case TD_DTYPE_FLOAT32: return put(static_cast<float>(value), at);
    case TD_DTYPE_FLOAT64: return put(static_cast<double>(value), at);
    case TD_DTYPE_COMPLEX64: return put(c10::complex<float>(static_cast<float>(value), 1), at);
    case TD_DTYPE_COMPLEX128: return put(c10::complex<double>(static_cast<double>(value), 1), at);
    case TD_DTYPE_BOOL: return put(static_cast<std::uint8_t>(value % 2 != 0), at);
    default: return put(c10::BFloat16(static_cast<float>(value)), at);
  }
}

World::World(const Plan &the_plan, Memory memory) : plan(the_plan), memory_(memory) {
  bool only_pokes = true;
  for (const EventPlan &event : plan.events)
    only_pokes = only_pokes && event.kind == EventPlan::poke;
  trees_ = (memory == Memory::own || memory == Memory::dense) && only_pokes;
  pieces_.resize(plan.arenas.size());
  copies_.resize(plan.dicts.size());
  if (memory == Memory::shared) {
    for (std::size_t i = 0; i < plan.arenas.size(); ++i)
      pieces_[i].push_back(filled_piece(plan.arenas[i]));
  }
  for (std::size_t i = 0; i < plan.tensors.size(); ++i)
    tensors.push_back(tensor(static_cast<int>(i)));
  for (std::size_t i = 0; i < plan.dicts.size(); ++i) dicts.push_back(build(static_cast<int>(i)));
  for (const EventPlan &event : plan.events) happen(event);
}

World::~World() {
  for (td_tensordict *td : dicts) td_free(td);
  for (const auto &copies : copies_) {
    for (td_tensordict *td : copies) td_free(td);
  }
  for (td_tensor *tensor : tensors) td_tensor_free(tensor);
  for (td_tensor *tensor : made_) td_tensor_free(tensor);
}

void World::note(td_status status) {
  if (status == TD_ERR_INTERNAL || status == TD_ERR_OUT_OF_MEMORY)
    bad_status = std::string(td_status_name(status)) + " of " + td_last_error_function() + ": " +
                 td_last_error_message();
}

td_tensor *World::tensor(int id) {
  const auto i = static_cast<std::size_t>(id);
  if (memory_ == Memory::shared && i < tensors.size()) {
    td_tensor *same = nullptr;
    note(td_tensor_dup(tensors[i], &same));
    return same;
  }
  const TensorPlan &tensor_plan = plan.tensors[i];
  const auto a = static_cast<std::size_t>(tensor_plan.arena);
  if (memory_ != Memory::shared) {
    pieces_[a].push_back(filled_piece(plan.arenas[a]));
    for (const EventPlan &event : pokes_) {
      if (event.arena == tensor_plan.arena) poke(event, pieces_[a].back());
    }
  }
  return tensor_over(pieces_[a].back(), plan.arenas[a], tensor_plan);
}

// What a parent takes in: the very dictionary, or in a world of trees one of its own.
td_tensordict *World::entry(int id) {
  const auto i = static_cast<std::size_t>(id);
  if (!trees_) return dicts[i];
  copies_[i].push_back(build(id));
  return copies_[i].back();
}

td_tensordict *World::build(int id) {
  const DictPlan &dict = plan.dicts[static_cast<std::size_t>(id)];
  td_tensordict *result = nullptr;
  std::vector<td_tensordict *> elements;
  for (const int element : dict.elements) elements.push_back(entry(element));
  td_status status = TD_OK;
  switch (dict.kind) {
    case DictKind::dense: break;
    case DictKind::lazy:
      status = td_lazy_stack(elements.data(), elements.size(), dict.dim, &result);
      if (memory_ == Memory::dense && status == TD_OK) read_out(result);
      break;
    case DictKind::stack:
      status = td_stack(elements.data(), elements.size(), dict.dim, &result);
      break;
    case DictKind::sub:
    case DictKind::index: {
      const Items items(*this, dict.items);
      status = dict.kind == DictKind::sub
                   ? td_sub_tensordict(elements[0], items.items.data(), items.items.size(), &result)
                   : td_index(elements[0], items.items.data(), items.items.size(), &result);
      break;
    }
    case DictKind::expand:
      status = td_expand(elements[0], dict.batch.data(), dict.batch.size(), &result);
      break;
    case DictKind::permute: {
      Sizes order;
      for (std::size_t i = dict.batch.size(); i-- > 0;)
        order.push_back(static_cast<std::int64_t>(i));
      status = td_permute(elements[0], order.data(), order.size(), &result);
      break;
    }
    case DictKind::clone: status = td_clone(elements[0], TD_CLONE_SHALLOW, &result); break;
    case DictKind::consolidated:
      status = td_consolidate(elements[0], nullptr, nullptr, &result);
      break;
    case DictKind::mapped: {
      td_load_options options = TD_LOAD_OPTIONS_INIT;
      options.private_mapping = 1;
      status = td_memmap_load(folder().c_str(), &options, &result);
      break;
    }
    case DictKind::row: {
      td_tensordict *rows[8] = {};
      std::size_t n = 0;
      status = td_unbind(elements[0], 0, rows, 8, &n);
      for (std::size_t i = 0; status == TD_OK && i < n; ++i) {
        if (i + 1 < n)
          td_free(rows[i]);
        else
          result = rows[i];
      }
      break;
    }
    case DictKind::detach: status = td_detach(elements[0], TD_DETACH_DATA, &result); break;
  }
  note(status);
  if (result == nullptr) {
    if (td_create(dict.batch.data(), dict.batch.size(), TD_DEVICE_NONE, -1, &result) != TD_OK)
      std::abort();
  }
  for (const EntryPlan &one : dict.entries) {
    const char *const path[] = {one.key.c_str()};
    switch (one.kind) {
      case EntryPlan::tensor:
        made_.push_back(tensor(one.id));
        note(td_set(result, path, 1, made_.back()));
        break;
      case EntryPlan::dict: note(td_set_dict(result, path, 1, entry(one.id))); break;
      case EntryPlan::json: {
        static const char *const texts[] = {"1", "\"text\"", "[1,{\"a\":null}]", "true"};
        note(td_set_non_tensor_json(result, path, 1, texts[one.id]));
        break;
      }
      case EntryPlan::nested: {
        std::vector<td_tensor *> parts;
        for (std::int64_t i = 0; i < dict.batch[0]; ++i) {
          const std::int64_t size = 1 + (i + one.id) % 3;
          td_tensor *part = nullptr;
          if (td_tensor_zeros(&size, 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &part) != TD_OK)
            std::abort();
          parts.push_back(part);
        }
        td_tensordict *nested = nullptr;
        note(td_nested_tensor_from_tensors(parts.data(), parts.size(), &nested));
        if (nested != nullptr) note(td_set_dict(result, path, 1, nested));
        td_free(nested);
        for (td_tensor *part : parts) td_tensor_free(part);
        break;
      }
    }
  }
  return result;
}

void World::read_out(td_tensordict *&lazy) {
  td_tensordict *dense = nullptr;
  if (td_contiguous(lazy, &dense) != TD_OK) {
    even_ = false;
    return;
  }
  td_free(lazy);
  lazy = dense;
}

bool World::take_elements() {
  for (std::size_t i = 0; i < dicts.size(); ++i) {
    if (plan.dicts[i].kind != DictKind::lazy) continue;
    td_tensordict *one = nullptr;
    if (element(dicts[i], plan.dicts[i].dim, 0, &one) != TD_OK) return false;
    td_free(dicts[i]);
    dicts[i] = one;
  }
  return true;
}

void World::poke(const EventPlan &event, const Piece &piece) const {
  const td_dtype dtype = plan.arenas[static_cast<std::size_t>(event.arena)].dtype;
  put_number(dtype, event.value,
             piece.begin() + static_cast<std::size_t>(event.element) * size_of(dtype));
}

void World::happen(const EventPlan &event) {
  if (event.kind == EventPlan::poke) {
    for (const Piece &piece : pieces_[static_cast<std::size_t>(event.arena)]) poke(event, piece);
    pokes_.push_back(event);
    return;
  }
  td_tensordict *td = dicts[static_cast<std::size_t>(event.dict)];
  const char *const path[] = {event.key.c_str(), "a"};
  td_tensordict *nested = nullptr;
  switch (event.kind) {
    case EventPlan::poke: break;
    case EventPlan::lock: note(td_lock(td)); break;
    case EventPlan::unlock: note(td_unlock(td)); break;
    case EventPlan::drop: note(td_remove(td, path, 1)); break;
    case EventPlan::name: {
      static const char *const names[] = {"one", "two", "three", "four", "five", "six"};
      std::size_t dims = 0;
      std::int64_t sizes[16];
      note(td_batch_size(td, sizes, 16, &dims));
      if (dims <= 6) note(td_set_names(td, names, dims));
      break;
    }
    case EventPlan::lock_nested:
    case EventPlan::resize:
      note(td_get_dict(td, path, 1, &nested));
      if (nested != nullptr)
        note(event.kind == EventPlan::resize
                 ? td_set_batch_size(nested, event.batch.data(), event.batch.size())
                 : td_lock(nested));
      td_free(nested);
      break;
    case EventPlan::put:
      if (tensors.empty()) break;
      made_.push_back(tensor(event.tensor));
      note(td_set(td, path, 2, made_.back()));
      break;
  }
}

std::string World::memory() const {
  std::string bytes;
  for (const auto &arena : pieces_) {
    for (const Piece &piece : arena)
      bytes.append(reinterpret_cast<const char *>(piece.begin()), piece.size);
  }
  return bytes;
}

std::string World::guards() const {
  for (const auto &arena : pieces_) {
    for (const Piece &piece : arena) {
      for (std::size_t i = 0; i < guard; ++i) {
        if (piece.bytes[i] != guard_byte || piece.begin()[piece.size + i] != guard_byte)
          return "memory beside a tensor was written";
      }
    }
  }
  return "";
}

Items::Items(const World &world, const std::vector<ItemPlan> &plan) {
  for (const ItemPlan &from : plan) {
    td_index_item item = {};
    item.kind = from.kind;
    item.start = from.start;
    if (from.kind == TD_INDEX_SLICE) {
      item.flags = TD_INDEX_HAS_START | TD_INDEX_HAS_STOP | TD_INDEX_HAS_STEP;
      item.stop = from.stop;
      item.step = from.step;
    }
    if (from.kind == TD_INDEX_TENSOR)
      item.tensor = world.tensors[static_cast<std::size_t>(from.tensor)];
    items.push_back(item);
  }
}

}  // namespace attack
