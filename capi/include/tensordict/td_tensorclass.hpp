// tensordict/td_tensorclass.hpp: typed tensorclasses, for C++ hosts that use libtorch (C++: TD_TENSORCLASS; Python: tensorclass, TensorClass).
//
//   struct MyData : td_torch::Tensorclass<MyData> {
//     TD_TENSORCLASS(MyData, (image, at::Tensor), (mask, at::Tensor), (label, std::optional<at::Tensor>))
//
//     MyData select_label(std::int64_t wanted) const { return (*this)[label()->eq(wanted)]; }
//   };
//
//   MyData data({100}, images, mask, labels);
//   data.image();                  // at::Tensor, the same memory
//   data.set_label(std::nullopt);
//   data.select_label(1).reshape({-1});
//
// A field is an at::Tensor, a td_torch::Of<dtype, sizes…> (a tensor of that dtype with these sizes after
// the batch size, -1 for any), a td_torch::Dict, a td_torch::Json, another tensorclass, or a std::optional
// of one of these.
// Copies of a tensorclass refer to the same dictionary, as copies of an at::Tensor share memory.
//
// Not part of the ABI: host and library must use the same libtorch.
#ifndef TENSORDICT_TD_TENSORCLASS_HPP
#define TENSORDICT_TD_TENSORCLASS_HPP

#include "tensordict/td_torch.hpp"

#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace td_torch {

// One item of an index: a position, a tensor of positions or a mask, or a slice.
class Index {
 public:
  Index(std::int64_t position) : item_() {  // NOLINT: an implicit conversion
    item_.kind = TD_INDEX_INT;
    item_.start = position;
  }
  Index(int position) : Index(std::int64_t{position}) {}  // NOLINT
  Index(const at::Tensor& tensor) : item_() {             // NOLINT: an implicit conversion
    item_.kind = TD_INDEX_TENSOR;
    tensor_.reset(to_handle(tensor), td_tensor_free);
    item_.tensor = tensor_.get();
  }

  static Index slice(std::int64_t start, std::int64_t stop, std::int64_t step = 1) {
    Index index(start);
    index.item_.kind = TD_INDEX_SLICE;
    index.item_.flags = TD_INDEX_HAS_START | TD_INDEX_HAS_STOP | TD_INDEX_HAS_STEP;
    index.item_.stop = stop;
    index.item_.step = step;
    return index;
  }
  static Index all() { return of_kind(TD_INDEX_SLICE); }
  static Index ellipsis() { return of_kind(TD_INDEX_ELLIPSIS); }
  static Index new_axis() { return of_kind(TD_INDEX_NONE); }

  const td_index_item& item() const noexcept { return item_; }

 private:
  static Index of_kind(td_index_kind kind) {
    Index index(std::int64_t{0});
    index.item_.kind = kind;
    return index;
  }

  td_index_item item_;
  std::shared_ptr<td_tensor> tensor_;
};

// The type of a field that is a tensor of a dtype, with these sizes after the batch size.
template <at::ScalarType dtype, std::int64_t... sizes>
struct Of {};

// Non-tensor data, as JSON text.
struct Json {
  std::string text;
};

// The base of all tensorclasses.
struct AnyTensorclass : Dict {
  using Dict::Dict;
};

namespace detail {

// How a field of type T is declared, read and written.
template <class T, class = void>
struct Field;

struct Path {
  const char* names[1];
};

inline td_entry_kind kind_of(const Dict& dict, const char* name) {
  const Path path{{name}};
  td_entry_kind kind = TD_ENTRY_NONE;
  check(td_get_kind(dict.handle(), path.names, 1, &kind));
  return kind;
}

template <>
struct Field<at::Tensor> {
  using Value = at::Tensor;
  static void declare(td_field&, std::vector<std::int64_t>&) {}
  static Value get(const Dict& dict, const char* name) {
    const Path path{{name}};
    td_tensor* handle = nullptr;
    check(td_get(dict.handle(), path.names, 1, &handle));
    const std::shared_ptr<td_tensor> owner(handle, td_tensor_free);
    return from_handle(handle);
  }
  static void set(const Dict& dict, const char* name, const Value& value) {
    const Path path{{name}};
    const std::shared_ptr<td_tensor> handle(to_handle(value), td_tensor_free);
    check(td_set(dict.handle(), path.names, 1, handle.get()));
  }
};

template <at::ScalarType dtype, std::int64_t... sizes>
struct Field<Of<dtype, sizes...>> : Field<at::Tensor> {
  static void declare(td_field& field, std::vector<std::int64_t>& feature) {
    for (const Dtype& row : dtypes) {
      if (row.type == dtype) field.dtype = row.number;
    }
    feature = {sizes...};
    field.flags |= TD_FIELD_HAS_FEATURE;
    field.feature_dims = static_cast<std::uint32_t>(sizeof...(sizes));
  }
};

template <>
struct Field<Json> {
  using Value = Json;
  static void declare(td_field& field, std::vector<std::int64_t>&) { field.kind = TD_FIELD_NON_TENSOR; }
  static Value get(const Dict& dict, const char* name) {
    const Path path{{name}};
    return {text_of([&](char* text, std::size_t room, std::size_t* length) {
      return td_get_non_tensor_json(dict.handle(), path.names, 1, text, room, length);
    })};
  }
  // Not inlined: GCC 12 then warns that it reads the text of an empty optional.
  [[gnu::noinline]] static void set(const Dict& dict, const char* name, const Value& value) {
    const Path path{{name}};
    check(td_set_non_tensor_json(dict.handle(), path.names, 1, value.text.c_str()));
  }
};

template <class T>
struct Field<T, std::enable_if_t<std::is_base_of<Dict, T>::value>> {
  using Value = T;
  static void declare(td_field& field, std::vector<std::int64_t>&) {
    if constexpr (std::is_base_of<AnyTensorclass, T>::value) {
      field.kind = TD_FIELD_TENSORCLASS;
      field.tensorclass = T::tensorclass_type();
    } else {
      field.kind = TD_FIELD_DICT;
    }
  }
  static Value get(const Dict& dict, const char* name) {
    const Path path{{name}};
    td_tensordict* handle = nullptr;
    check(td_get_dict(dict.handle(), path.names, 1, &handle));
    return T(handle);
  }
  static void set(const Dict& dict, const char* name, const Value& value) {
    const Path path{{name}};
    check(td_set_dict(dict.handle(), path.names, 1, value.handle()));
  }
};

template <class T>
struct Field<std::optional<T>> {
  using Value = std::optional<typename Field<T>::Value>;
  static void declare(td_field& field, std::vector<std::int64_t>& feature) {
    Field<T>::declare(field, feature);
    field.flags |= TD_FIELD_OPTIONAL;
  }
  static Value get(const Dict& dict, const char* name) {
    if (kind_of(dict, name) == TD_ENTRY_NONE) return std::nullopt;
    return Field<T>::get(dict, name);
  }
  static void set(const Dict& dict, const char* name, const Value& value) {
    const Path path{{name}};
    if (value) {
      Field<T>::set(dict, name, *value);
    } else if (kind_of(dict, name) != TD_ENTRY_NONE) {
      check(td_remove(dict.handle(), path.names, 1));
    }
  }
};

// A tensorclass type, created once and freed when the program ends.
class TensorclassType {
 public:
  using Declare = void (*)(td_field&, std::vector<std::int64_t>&);

  TensorclassType(const char* name, std::initializer_list<std::pair<const char*, Declare>> members) {
    std::vector<td_field> fields(members.size(), td_field{});
    std::vector<std::vector<std::int64_t>> features(members.size());
    std::size_t i = 0;
    for (const auto& member : members) {
      fields[i].name = member.first;
      member.second(fields[i], features[i]);
      fields[i].feature = features[i].data();
      ++i;
    }
    td_tensorclass* made = nullptr;
    check(td_tensorclass_create(name, fields.data(), fields.size(), nullptr, &made));
    type_.reset(made, td_tensorclass_free);
  }
  const td_tensorclass* get() const noexcept { return type_.get(); }

 private:
  std::shared_ptr<td_tensorclass> type_;
};

}  // namespace detail

// The base of a struct that lists its fields with TD_TENSORCLASS.
template <class Derived>
class Tensorclass : public AnyTensorclass {
 public:
  Tensorclass() = default;
  // Takes ownership of a handle on a dictionary that already has this type.
  explicit Tensorclass(td_tensordict* handle) : AnyTensorclass(handle) {}
  explicit Tensorclass(at::IntArrayRef batch_size) : AnyTensorclass(batch_size) {}

  // Gives a dictionary this type. Throws if its entries do not match the fields.
  static Derived from_dict(const Dict& dict) {
    td_tensordict* shared = nullptr;
    check(td_dup(dict.handle(), &shared));
    Derived result(shared);
    check(td_set_tensorclass(shared, Derived::tensorclass_type()));
    return result;
  }
  // A plain dictionary over the same tensors.
  Dict to_dict() const {
    const Dict copy(made([&](td_tensordict** out) { return td_clone(handle(), TD_CLONE_SHALLOW, out); }));
    check(td_set_tensorclass(copy.handle(), nullptr));
    return copy;
  }

  // The result of any function of the library: data.derive(td_squeeze, 0).
  template <class Function, class... Arguments>
  Derived derive(Function&& function, Arguments... arguments) const {
    return Derived(
        made([&](td_tensordict** out) { return function(handle(), arguments..., out); }));
  }

  Derived operator[](const Index& index) const { return index_by({index}); }
  Derived index_by(std::initializer_list<Index> index) const {
    const std::vector<td_index_item> items = items_of(index);
    return derive(td_index, items.data(), items.size());
  }
  void set_at(std::initializer_list<Index> index, const Derived& value) const {
    const std::vector<td_index_item> items = items_of(index);
    check(td_set_at(handle(), items.data(), items.size(), value.handle()));
  }
  Derived view(at::IntArrayRef sizes) const { return derive(td_view, sizes.data(), sizes.size()); }
  Derived reshape(at::IntArrayRef sizes) const {
    return derive(td_reshape, sizes.data(), sizes.size());
  }
  Derived clone() const { return derive(td_clone, 0); }

  static Derived stack(at::ArrayRef<Derived> tensorclasses, std::int64_t dim = 0) {
    return joined(td_stack, tensorclasses, dim);
  }
  static Derived cat(at::ArrayRef<Derived> tensorclasses, std::int64_t dim = 0) {
    return joined(td_cat, tensorclasses, dim);
  }
  std::vector<Derived> unbind(std::int64_t dim = 0) const {
    std::size_t count = 0;
    const td_status status = td_unbind(handle(), dim, nullptr, 0, &count);
    if (status != TD_ERR_BUFFER_TOO_SMALL) check(status);
    std::vector<td_tensordict*> handles(count);
    if (count != 0) check(td_unbind(handle(), dim, handles.data(), count, &count));
    std::vector<Derived> parts;
    parts.reserve(count);
    for (td_tensordict* part : handles) parts.emplace_back(part);
    return parts;
  }

 protected:
  // Ends a constructor: checks the fields that it set.
  void finish() const { check(td_set_tensorclass(handle(), Derived::tensorclass_type())); }

 private:
  template <class Call>
  static td_tensordict* made(Call&& call) {
    td_tensordict* result = nullptr;
    check(call(&result));
    return result;
  }
  static std::vector<td_index_item> items_of(std::initializer_list<Index> index) {
    std::vector<td_index_item> items;
    for (const Index& one : index) items.push_back(one.item());
    return items;
  }
  template <class Function>
  static Derived joined(Function&& function, at::ArrayRef<Derived> tensorclasses, std::int64_t dim) {
    std::vector<const td_tensordict*> sources;
    for (const Derived& tensorclass : tensorclasses) sources.push_back(tensorclass.handle());
    return Derived(made([&](td_tensordict** out) {
      return function(sources.data(), sources.size(), dim, out);
    }));
  }
};

}  // namespace td_torch

// TD_EACH_(F, (a), (b)) expands to F(a) F(b), for up to 24 arguments.
#define TD_EXPAND_(x) x
#define TD_EACH_1_(F, a) F a
#define TD_EACH_2_(F, a, ...) F a TD_EXPAND_(TD_EACH_1_(F, __VA_ARGS__))
#define TD_EACH_3_(F, a, ...) F a TD_EXPAND_(TD_EACH_2_(F, __VA_ARGS__))
#define TD_EACH_4_(F, a, ...) F a TD_EXPAND_(TD_EACH_3_(F, __VA_ARGS__))
#define TD_EACH_5_(F, a, ...) F a TD_EXPAND_(TD_EACH_4_(F, __VA_ARGS__))
#define TD_EACH_6_(F, a, ...) F a TD_EXPAND_(TD_EACH_5_(F, __VA_ARGS__))
#define TD_EACH_7_(F, a, ...) F a TD_EXPAND_(TD_EACH_6_(F, __VA_ARGS__))
#define TD_EACH_8_(F, a, ...) F a TD_EXPAND_(TD_EACH_7_(F, __VA_ARGS__))
#define TD_EACH_9_(F, a, ...) F a TD_EXPAND_(TD_EACH_8_(F, __VA_ARGS__))
#define TD_EACH_10_(F, a, ...) F a TD_EXPAND_(TD_EACH_9_(F, __VA_ARGS__))
#define TD_EACH_11_(F, a, ...) F a TD_EXPAND_(TD_EACH_10_(F, __VA_ARGS__))
#define TD_EACH_12_(F, a, ...) F a TD_EXPAND_(TD_EACH_11_(F, __VA_ARGS__))
#define TD_EACH_13_(F, a, ...) F a TD_EXPAND_(TD_EACH_12_(F, __VA_ARGS__))
#define TD_EACH_14_(F, a, ...) F a TD_EXPAND_(TD_EACH_13_(F, __VA_ARGS__))
#define TD_EACH_15_(F, a, ...) F a TD_EXPAND_(TD_EACH_14_(F, __VA_ARGS__))
#define TD_EACH_16_(F, a, ...) F a TD_EXPAND_(TD_EACH_15_(F, __VA_ARGS__))
#define TD_EACH_17_(F, a, ...) F a TD_EXPAND_(TD_EACH_16_(F, __VA_ARGS__))
#define TD_EACH_18_(F, a, ...) F a TD_EXPAND_(TD_EACH_17_(F, __VA_ARGS__))
#define TD_EACH_19_(F, a, ...) F a TD_EXPAND_(TD_EACH_18_(F, __VA_ARGS__))
#define TD_EACH_20_(F, a, ...) F a TD_EXPAND_(TD_EACH_19_(F, __VA_ARGS__))
#define TD_EACH_21_(F, a, ...) F a TD_EXPAND_(TD_EACH_20_(F, __VA_ARGS__))
#define TD_EACH_22_(F, a, ...) F a TD_EXPAND_(TD_EACH_21_(F, __VA_ARGS__))
#define TD_EACH_23_(F, a, ...) F a TD_EXPAND_(TD_EACH_22_(F, __VA_ARGS__))
#define TD_EACH_24_(F, a, ...) F a TD_EXPAND_(TD_EACH_23_(F, __VA_ARGS__))
#define TD_PICK_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
                 a19, a20, a21, a22, a23, a24, name, ...)                                         \
  name
#define TD_EACH_(F, ...)                                                                          \
  TD_EXPAND_(TD_PICK_(__VA_ARGS__, TD_EACH_24_, TD_EACH_23_, TD_EACH_22_, TD_EACH_21_, TD_EACH_20_, \
                      TD_EACH_19_, TD_EACH_18_, TD_EACH_17_, TD_EACH_16_, TD_EACH_15_,            \
                      TD_EACH_14_, TD_EACH_13_, TD_EACH_12_, TD_EACH_11_, TD_EACH_10_, TD_EACH_9_, \
                      TD_EACH_8_, TD_EACH_7_, TD_EACH_6_, TD_EACH_5_, TD_EACH_4_, TD_EACH_3_,     \
                      TD_EACH_2_, TD_EACH_1_, 0)(F, __VA_ARGS__))

// The type comes last, so that it may contain commas.
#define TD_TENSORCLASS_FIELD_(...) ::td_torch::detail::Field<__VA_ARGS__>
#define TD_TENSORCLASS_MEMBER_(name, ...)                                                     \
  TD_TENSORCLASS_FIELD_(__VA_ARGS__)::Value name() const {                                    \
    return TD_TENSORCLASS_FIELD_(__VA_ARGS__)::get(*this, #name);                             \
  }                                                                                      \
  void set_##name(const TD_TENSORCLASS_FIELD_(__VA_ARGS__)::Value& value) const {             \
    TD_TENSORCLASS_FIELD_(__VA_ARGS__)::set(*this, #name, value);                             \
  }
#define TD_TENSORCLASS_DECLARE_(name, ...) {#name, &TD_TENSORCLASS_FIELD_(__VA_ARGS__)::declare},
#define TD_TENSORCLASS_PARAMETER_(name, ...) , const TD_TENSORCLASS_FIELD_(__VA_ARGS__)::Value& name
#define TD_TENSORCLASS_SET_(name, ...) TD_TENSORCLASS_FIELD_(__VA_ARGS__)::set(*this, #name, name);

// Declares the members of a struct that derives from td_torch::Tensorclass<Name>: a constructor that takes
// the batch size and all fields, and name(), set_name() for each field.
#define TD_TENSORCLASS(Name, ...)                                                                     \
 public:                                                                                         \
  using ::td_torch::Tensorclass<Name>::Tensorclass;                                                        \
  Name() = default;                                                                              \
  explicit Name(at::IntArrayRef batch_size TD_EACH_(TD_TENSORCLASS_PARAMETER_, __VA_ARGS__))          \
      : ::td_torch::Tensorclass<Name>(batch_size) {                                                   \
    TD_EACH_(TD_TENSORCLASS_SET_, __VA_ARGS__)                                                        \
    this->finish();                                                                              \
  }                                                                                              \
  static const td_tensorclass* tensorclass_type() {                                                   \
    static const ::td_torch::detail::TensorclassType type(#Name, {TD_EACH_(TD_TENSORCLASS_DECLARE_, __VA_ARGS__)}); \
    return type.get();                                                                           \
  }                                                                                              \
  TD_EACH_(TD_TENSORCLASS_MEMBER_, __VA_ARGS__)

#endif
