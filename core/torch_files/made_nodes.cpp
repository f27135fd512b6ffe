#include "core/torch_files/made_nodes.h"

#include "core/torch_files/torch_file.h"

#include "core/consolidated/packing.h"
#include "core/formats/format.h"
#include "core/tensorclass/found_type.h"
#include "core/tree/names.h"
#include "core/tree/non_tensor.h"
#include "core/tree/paths.h"

#include <algorithm>

namespace td::pickled {

namespace {

// A state may be that of many objects, and is searched for each. Parameters have 25 members.
constexpr std::size_t most_members = 100;

}  // namespace

MadeNodes::MadeNodes(Archive& archive, const FileOptions& options, std::size_t& entries,
                     std::size_t& bytes_left)
    : archive_(archive), options_(options), entries_(entries), bytes_left_(bytes_left) {}

NodePtr MadeNodes::read(Ref made) {
  try {
    return node(made);
  } catch (const Error& error) {
    const bool told = std::string_view(error.what()).find(where()) != std::string_view::npos;
    if (told || error.code() == Code::out_of_memory) throw;
    fail(error.code(), where(), ": ", error.what());
  }
}

void MadeNodes::lock_all() {
  for (const NodePtr& node : locked_) lock(node);
}

void MadeNodes::fail_form(const std::string& name) const {
  fail(Code::format, where(), ": the state of an object of tensordict has no ", quote(name),
       ", or a bad one");
}

void MadeNodes::fail_class(const Object& made) const {
  fail_unknown(class_of(archive_.pickle(), made), where());
}

const Object* MadeNodes::member(const Object& state, std::string_view name, Ref* ref) const {
  if (state.kind != Kind::dict || state.items.size() > 2 * most_members) {
    fail_form(std::string(name));
  }
  for (std::size_t i = 0; i + 1 < state.items.size(); i += 2) {
    const Object& key = object(state.items[i]);
    if (key.kind != Kind::text || key.text != name) continue;
    if (ref != nullptr) *ref = state.items[i + 1];
    return &object(state.items[i + 1]);
  }
  return nullptr;
}

const Object& MadeNodes::member(const Object& state, std::string_view name, Kind kind) const {
  const Object* const found = member(state, name);
  if (found == nullptr || found->kind != kind) fail_form(std::string(name));
  return *found;
}

// A text that occurs once in the file may be met often.
const std::string& MadeNodes::counted(const std::string& text) {
  if (text.size() > bytes_left_) fail(Code::format, where(), ": its names are too long");
  bytes_left_ -= text.size();
  return text;
}

Plain MadeNodes::plain(Ref ref) {
  const Object& value = object(ref);
  if (value.kind != Kind::bytes) return plain_of(archive_.pickle(), ref, bytes_left_, where());
  if (value.text.size() > bytes_left_ / 2) fail(Code::format, where(), ": a value is too long");
  bytes_left_ -= 2 * value.text.size();
  return plain_of_bytes(value.text);
}

NodePtr MadeNodes::node(Ref ref) {
  const Object& made = object(ref);
  if (made.kind != Kind::made) {
    fail(Code::format, where(), ": a dictionary of tensordict is something else");
  }
  if (++entries_ > options_.max_entries) {
    fail(Code::format, where(), ": more than ", options_.max_entries, " entries");
  }
  if (depth_ >= std::min<std::size_t>(options_.max_depth, most_levels)) {
    fail(Code::format, where(), ": nested deeper than ", depth_, " levels");
  }
  struct Deeper {
    std::size_t& depth;
    explicit Deeper(std::size_t& of) : depth(of) { ++depth; }
    ~Deeper() { --depth; }
  } const deeper(depth_);
  const std::string& name = class_of(archive_.pickle(), made);
  if (name == made::consolidated) return consolidated(made);
  if (made.items.size() != 1 || object(made.items[0]).kind != Kind::dict) fail_class(made);
  const Object& state = object(made.items[0]);
  if (name == made::parameters) {
    Ref held = 0;
    if (member(state, "_param_td", &held) == nullptr) fail_form("_param_td");
    return node(held);
  }
  if (name == made::dict) return dense(state);
  if (name == made::lazy || name == made::values) return lazy(state);
  // All that is known of other classes is that a tensorclass has these two.
  if (member(state, "tensordict") == nullptr || member(state, "non_tensordict") == nullptr) {
    fail_class(made);
  }
  return tensorclass(state, name);
}

Value MadeNodes::entry(Ref ref, Path path) {
  const Object& value = object(ref);
  if (value.kind == Kind::tensor) {
    ++entries_;
    return archive_.tensor(value.number);
  }
  if (value.kind == Kind::made) return node(ref);
  fail(Code::format, where(), ": the entry ", show_path(path),
       " of a dictionary of tensordict is neither a tensor nor a dictionary");
}

NodePtr MadeNodes::dense(const Object& state) {
  Sizes batch;
  for (const Ref size : member(state, "_batch_size", Kind::list).items) {
    const Object& one = object(size);
    if (one.kind != Kind::integer || one.number < 0 || batch.size() == max_dims)
      fail_form("_batch_size");
    batch.push_back(one.number);
  }
  if (!checked_bytes(batch, 1)) fail_form("_batch_size");
  // The values are read into plain memory, wherever they were.
  std::optional<c10::Device> device;
  const Object* const named = member(state, "_device");
  if (named != nullptr && named->kind == Kind::text && named->text == "cpu") device = c10::kCPU;
  auto made = c10::make_intrusive<DenseNode>(batch, device);
  const std::vector<Ref>& items = member(state, "_tensordict", Kind::dict).items;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const std::string name = counted(key_of(archive_.pickle(), items[i], where()));
    const std::vector<std::string_view> path{name};
    check_path(path);
    if (made->find(name) != nullptr)
      fail(Code::key_exists, where(), ": ", quote(name), " occurs twice");
    Value value = entry(items[i + 1], path);
    require_batch(path, value.is_node() ? SizesView(value.node()->batch()) : value.tensor().sizes(),
                  batch);
    made->put(name, std::move(value));
  }
  NodePtr node = made;
  name_dims(node, state);
  if (const Object* locked = member(state, "_is_locked");
      locked != nullptr && locked->kind == Kind::truth) {
    if (locked->number != 0) locked_.push_back(node);
  }
  return node;
}

void MadeNodes::name_dims(const NodePtr& node, const Object& state) {
  const Object* const list = member(state, "_td_dim_names");
  if (list == nullptr || list->kind == Kind::none) return;
  if (list->kind != Kind::list || list->items.size() != node->batch().size())
    fail_form("_td_dim_names");
  Names names;
  for (const Ref ref : list->items) {
    const Object& name = object(ref);
    if (name.kind != Kind::none && name.kind != Kind::text) fail_form("_td_dim_names");
    names.push_back(name.kind == Kind::text ? std::optional<std::string>(counted(name.text))
                                            : std::nullopt);
  }
  set_names(TensorDict(node), names);
}

NodePtr MadeNodes::lazy(const Object& state) {
  std::vector<NodePtr> elements;
  for (const Ref ref : member(state, "tensordicts", Kind::list).items)
    elements.push_back(node(ref));
  const std::int64_t dim = member(state, "stack_dim", Kind::integer).number;
  if (elements.empty()) {
    fail(Code::unsupported, where(), ": a lazy stack without elements");
  }
  if (dim < 0 || dim > static_cast<std::int64_t>(elements[0]->batch().size()))
    fail_form("stack_dim");
  NodePtr node = lazy_stack(std::move(elements), dim);
  const Object* const name = member(state, "_td_dim_name");
  if (name != nullptr && name->kind == Kind::text && is_dict(*node)) {
    Names names = names_of(*node);
    names.resize(node->batch().size());
    names[static_cast<std::size_t>(dim)] = counted(name->text);
    set_names(TensorDict(node), names);
  }
  if (const Object* locked = member(state, "_is_locked");
      locked != nullptr && locked->kind == Kind::truth) {
    if (locked->number != 0) locked_.push_back(node);
  }
  return node;
}

// The text and the buffer of a consolidated file.
NodePtr MadeNodes::consolidated(const Object& made) {
  if (made.items.size() < 2 || object(made.items[1]).kind != Kind::tensor) fail_form("storage");
  const at::Tensor& row = archive_.tensor(object(made.items[1]).number);
  if (row.scalar_type() != at::kByte || !row.is_contiguous() || row.storage_offset() != 0) {
    fail_form("storage");
  }
  packing::Limits limits;
  limits.depth = std::min<std::size_t>(options_.max_depth, most_levels);
  limits.entries = options_.max_entries - std::min<std::size_t>(entries_, options_.max_entries);
  const packing::Parsed parsed(plain(made.items[0]), where(), static_cast<std::size_t>(row.numel()),
                               limits);
  return parsed.build(row.storage(), std::nullopt);
}

NodePtr MadeNodes::tensorclass(const Object& state, const std::string& name) {
  Ref inner = 0;
  member(state, "tensordict", &inner);
  NodePtr made = node(inner);
  const Object& fields = member(state, "non_tensordict", Kind::dict);
  if (name == made::value || name == "tensordict.tensorclass.MetaData") {
    Ref data = 0;
    if (member(fields, "data", &data) == nullptr) fail_form("data");
    return c10::make_intrusive<NonTensorNode>(plain(data), made->batch(), made->device());
  }
  std::vector<std::string> none;
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2) {
    ++entries_;
    std::string field = counted(key_of(archive_.pickle(), fields.items[i], where()));
    if (object(fields.items[i + 1]).kind == Kind::none) {
      none.push_back(std::move(field));
      continue;
    }
    // Versions before 0.15 keep values here.
    if (stack_dim_of(*made) || kind_below(made, field) != EntryKind::none)
      fail_form("non_tensordict");
    const std::vector<std::string_view> path{field};
    check_path(path);
    entries_of(made).put(field, NodePtr(c10::make_intrusive<NonTensorNode>(
                                    plain(fields.items[i + 1]), made->batch(), made->device())));
  }
  const std::string type = format::tensorclass_of_class("<class '" + name + "'>");
  if (type.empty() || !is_dict(*made)) fail_form("tensordict");
  made->set_tensorclass(found_type(type, made, none, nullptr, where()));
  return made;
}

}  // namespace td::pickled
