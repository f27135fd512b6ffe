// Packing: places the tensors and writes the text.
#include "core/consolidated/packing.h"

#include "core/tensor/parallel.h"

#include "core/formats/format.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tensor/rows.h"
#include "core/tree/engine.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td::packing {

namespace {

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::string show_quoted(std::string_view name) { return quote(name); }

bool begins_with_text(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// Names that the text uses itself: a nested dictionary of that name would clash with a field.
void check_name(std::string_view name, bool is_node) {
  const bool clash = is_node && (name == "cls" || name == "non_tensors" || name == "leaves" ||
                                 name == "cls_metadata");
  if (clash || begins_with_text(name, nested_tensor_mark)) {
    fail(Code::key_invalid, show_quoted(name), " cannot be packed: the format reserves this name");
  }
}

// Returns the name of the dtype.
std::string_view check_tensor(const at::Tensor& tensor, std::string_view name) {
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || !tensor.has_storage()) {
    fail(Code::unsupported, show_quoted(name), " cannot be packed: it is not a dense tensor");
  }
  const std::string_view dtype = stored_name(tensor.scalar_type());
  if (dtype.empty()) {
    fail(Code::dtype, show_quoted(name), " cannot be packed: the format has no dtype ",
         dtype_name(tensor.scalar_type()));
  }
  if (tensor.device().type() == c10::DeviceType::Meta) {
    fail(Code::device, show_quoted(name), " cannot be packed: it is on meta and has no values");
  }
  return dtype;
}

// A dictionary from any device is read back onto the CPU.
Plain device_of(const Node& node) { return node.device() ? Plain::of_text("cpu") : Plain(); }

Plain name_of(const std::optional<std::string>& name) {
  return name ? Plain::of_text(*name) : Plain();
}

void tell_sizes(Events& to, SizesView sizes) {
  to.open(false);
  for (const std::int64_t size : sizes) to.add(Plain::of_integer(size));
  to.close(false);
}

void tell_metadata(Events& to, const Node& node, const LazyNode* lazy, bool all_locked) {
  const Names& names = node.names();
  const auto name_at = [&](std::size_t dim) {
    return name_of(dim < names.size() ? names[dim] : std::nullopt);
  };
  to.open(true);
  if (lazy != nullptr) {
    to.name("stack_dim");
    to.add(Plain::of_integer(lazy->stack_dim()));
    to.name("stack_dim_name");
    to.add(name_at(static_cast<std::size_t>(lazy->stack_dim())));
  } else {
    to.name("device");
    to.add(device_of(node));
    to.name("names");
    to.open(false);
    for (std::size_t i = 0; i < node.batch().size(); ++i) to.add(name_at(i));
    to.close(false);
    to.name("batch_size");
    tell_sizes(to, node.batch());
  }
  to.name("is_locked");
  to.add(Plain::of_truth(all_locked || is_locked(node)));
  to.close(true);
}

}  // namespace

// Gives each tensor its place, in key order.
class Plan::Placing : public WalkSink<Take::elements> {
 public:
  static constexpr bool opens_values = true;

  explicit Placing(Plan& plan) : plan_(plan) {}

  void enter(const Here& here, Dicts dicts) { enter(here, dicts[0]->size()); }
  void enter_lazy(const Here& here, const LazyNode& lazy, NodesHere) {
    enter(here, lazy.elements().size());
  }
  void leaf(const Here& here, Tensors tensors) {
    check_name(here.name(), false);
    slot(here) = plan_.add(*tensors[0], here.name());
  }
  void value(const Here& here, NodesHere) { check_name(here.name(), false); }
  void nested_tensor(const Here& here, const NestedTensorNode& node, NodesHere) {
    check_name(here.name(), false);
    slot(here) = plan_.add(node, here.name());
  }

 private:
  void enter(const Here& here, std::size_t entries) {
    if (!here.is_root()) check_name(here.name(), true);
    plan_.nodes_.emplace(&here.node(), Slots{plan_.slots_.size()});
    plan_.slots_.resize(plan_.slots_.size() + entries, no_place);
  }
  std::size_t& slot(const Here& here) {
    return plan_.slots_[plan_.nodes_.at(&here.node()).first + here.index()];
  }

  Plan& plan_;
};

Plan::Plan(const NodePtr& root, Twice twice) : root_(part_form(root)), twice_(twice) {
  if (one_value(*root_) != nullptr || is_nested_tensor(*root_)) {
    fail(Code::wrong_entry, "a value or a nested tensor cannot be packed alone");
  }
  WalkRules rules = all_entries();
  rules.numbered = true;
  Placing placing(*this);
  walk(root_, placing, rules);
}

std::size_t Plan::add(const at::Tensor& tensor, std::string_view name) {
  const auto known = tensors_.find(tensor.unsafeGetTensorImpl());
  if (known != tensors_.end() && twice_ == Twice::once) return known->second;
  return add_new(tensor, name);
}

std::size_t Plan::add_new(const at::Tensor& tensor, std::string_view name) {
  check_tensor(tensor, name);
  const std::size_t item = tensor.element_size();
  const std::optional<std::int64_t> bytes = checked_bytes(tensor.sizes(), item);
  const std::size_t room = std::numeric_limits<std::int64_t>::max() - std::size_t{1024};
  if (!bytes || static_cast<std::size_t>(*bytes) > room - bytes_) {
    fail(Code::shape, show_quoted(name), " with shape ", show_sizes(tensor.sizes()),
         " is too large to be packed");
  }
  if (item > alignment && bytes_ % item != 0) {
    bytes_ = round_up(bytes_, item);
    places_.back().stop = bytes_;  // the first place needs no padding
  }
  Place place{tensor, bytes_, static_cast<std::size_t>(*bytes), 0};
  place.stop = bytes_ = round_up(bytes_ + place.bytes, alignment);
  tensors_.emplace(tensor.unsafeGetTensorImpl(), places_.size());
  places_.push_back(std::move(place));
  return places_.size() - 1;
}

// Places the parts of a nested tensor one after the other; one that occurs twice keeps its first
// places.
std::size_t Plan::add(const NestedTensorNode& nested_tensor, std::string_view name) {
  const auto known = nested_tensor_.find(&nested_tensor);
  if (known != nested_tensor_.end() && twice_ == Twice::once) return known->second;
  const Jagged jagged = nested_tensor.jagged() ? *nested_tensor.jagged() : jagged_of(nested_tensor);
  const std::size_t first = add_new(jagged.values, name);
  if (jagged.lengths.defined()) add_new(jagged.lengths, name);
  add_new(jagged.offsets, name);
  nested_tensor_.emplace(&nested_tensor, first);
  return first;
}

NestedTensorPtr nested_tensor_over(const NestedTensorNode& nested_tensor, std::size_t place,
                                   const std::vector<at::Tensor>& views,
                                   std::optional<c10::Device> device) {
  Jagged jagged;
  jagged.values = views[place];
  if (nested_tensor.jagged()) jagged.dim = nested_tensor.jagged()->dim;
  const bool has_lengths = nested_tensor.jagged() && nested_tensor.jagged()->lengths.defined();
  if (has_lengths) jagged.lengths = views[++place];
  jagged.offsets = views[++place];
  // Only a join along rows yields contiguous values.
  const bool in_rows = jagged.dim == 1 && jagged.values.numel() == nested_tensor.values().numel();
  NestedTensorPtr result = nested_tensor.with_values(
      in_rows ? jagged.values.view({-1}) : nested_tensor.values().to(jagged.values.device()),
      device);
  result->set_jagged(std::move(jagged));
  return result;
}

void Plan::copy_to(char* data, int threads) const {
  // Pieces of similar size, so that several threads can share one large tensor.
  constexpr std::size_t largest = std::size_t{1} << 23;
  struct Piece {
    const Place* place;
    std::size_t begin;
    std::size_t bytes;
  };
  std::vector<Piece> pieces;
  for (const Place& place : places_) {
    const bool dense = fast::plain_cpu(place.tensor) && place.tensor.is_contiguous();
    const std::size_t step = dense && threads > 1 ? largest : place.bytes;
    for (std::size_t at = 0; at < place.bytes; at += step) {
      pieces.push_back({&place, at, std::min(step, place.bytes - at)});
    }
    const std::size_t end = place.start + place.bytes;
    if (place.stop != end) std::memset(data + end, 0, place.stop - end);
  }
  for_each_tensor(pieces.size(), static_cast<std::size_t>(threads), [&](std::size_t i) {
    const c10::NoGradGuard no_grad;
    const Piece& piece = pieces[i];
    const at::Tensor values = plain_values(piece.place->tensor);
    const char* from = static_cast<const char*>(values.data_ptr()) + piece.begin;
    rows::copy(data + piece.place->start + piece.begin, from, piece.bytes);
  });
}

// Tells the values or the leaves of one dictionary.
class Plan::Fields : public WalkSink<Take::elements> {
 public:
  static constexpr bool opens_values = true;
  enum Which : bool { values, leaves };

  Fields(const Plan& plan, std::size_t first, Which which, Events& to)
      : plan_(plan), first_(first), which_(which), to_(to) {}

  Take meet(const Here& here, NodesHere) { return here.is_root() ? Take::elements : Take::nothing; }
  void value(const Here& here, NodesHere nodes) {
    if (which_ != values) return;
    const Node& data = *nodes[0];
    to_.name(here.name());
    to_.open(false);
    send(*one_value(data), to_);
    tell_sizes(to_, data.batch());
    to_.add(device_of(data));
    to_.close(false);
  }
  void leaf(const Here& here, Tensors tensors) {
    if (which_ == leaves) tell(here.name(), tensors[0]->sizes(), plan_.places_[place_of(here)]);
  }
  void nested_tensor(const Here& here, const NestedTensorNode& node, NodesHere) {
    if (which_ != leaves) return;
    std::size_t next = place_of(here);
    const auto part = [&](std::string_view mark, std::optional<std::int64_t> dim = std::nullopt) {
      const Place& place = plan_.places_[next++];
      tell(std::string(mark).append(here.name()), place.tensor.sizes(), place, dim);
    };
    const std::shared_ptr<const Jagged>& jagged = node.jagged();
    part(values_mark);
    if (jagged && jagged->lengths.defined()) part(lengths_mark);
    part(offsets_mark, jagged ? jagged->dim : 1);
  }

 private:
  std::size_t place_of(const Here& here) const { return plan_.slots_[first_ + here.index()]; }

  void tell(std::string_view key, SizesView sizes, const Place& place,
            std::optional<std::int64_t> dim = std::nullopt) {
    const auto number = [&](std::size_t n) {
      to_.add(Plain::of_integer(static_cast<std::int64_t>(n)));
    };
    to_.name(key);
    to_.open(false);
    to_.add(Plain::of_text(stored_name(place.tensor.scalar_type())));
    tell_sizes(to_, sizes);
    number(place.start);
    number(place.stop);
    number(place.stop - place.start - place.bytes);
    if (dim) to_.add(Plain::of_integer(*dim));
    to_.close(false);
  }

  const Plan& plan_;
  const std::size_t first_;
  const Which which_;
  Events& to_;
};

// Tells each dictionary, in order.
class Plan::Telling : public WalkSink<Take::elements> {
 public:
  static constexpr bool opens_values = true;

  Telling(const Plan& plan, bool all_locked, TextEvents& to)
      : plan_(plan), all_locked_(all_locked), to_(to) {}

  void enter(const Here& here, Dicts) { begin(here, nullptr); }
  void enter_lazy(const Here& here, const LazyNode& lazy, NodesHere) { begin(here, &lazy); }
  Made leave(const Here&, bool) {
    to_.close(true);
    return {};
  }

 private:
  void begin(const Here& here, const LazyNode* lazy) {
    const Node& node = here.node();
    if (!here.is_root()) to_.name(here.name());
    to_.open(true);
    to_.name("cls");
    to_.add(Plain::of_text(row_of(node).class_name));
    fields(node, "non_tensors", Fields::values);
    fields(node, "leaves", Fields::leaves);
    to_.name("cls_metadata");
    tell_metadata(to_, node, lazy, all_locked_);
    if (to_.size() > max_text_bytes) {
      fail(Code::unsupported, "the names and sizes of the dictionary take more than ",
           max_text_bytes, " bytes");
    }
  }

  void fields(const Node& node, std::string_view name, Fields::Which which) {
    to_.name(name);
    to_.open(true);
    Fields fields(plan_, plan_.nodes_.at(&node).first, which, to_);
    WalkRules rules = all_entries();
    rules.numbered = true;
    walk(retain(node), fields, rules);
    to_.close(true);
  }

  const Plan& plan_;
  bool all_locked_;
  TextEvents& to_;
};

void Plan::write(TextEvents& to, bool all_locked) const {
  WalkRules rules = all_paths();
  rules.numbered = true;
  Telling telling(*this, all_locked, to);
  walk(root_, telling, rules);
}

std::string Plan::text(bool all_locked) const {
  JsonEvents text;
  write(text, all_locked);
  return text.take();
}

}  // namespace td::packing
