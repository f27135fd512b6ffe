// core/pickle/pickled.h: reads pickles of torch.save and tensordict with a small interpreter that knows only
// plain values and the functions that make tensors of storages. It never calls anything else.
#pragma once

#include "core/base/error.h"
#include "core/formats/plain.h"
#include "core/tensor/sizes.h"

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace td::pickled {

enum class Kind : std::uint8_t {
  none,
  truth,
  integer,
  real,
  text,
  bytes,
  list,  // or tuple
  dict,  // items alternate between keys and values
  function,
  storage,
  tensor,
  made,     // an object of Python's tensordict, or of a tensorclass: the items are its state
  foreign,  // an object that needs Python
};

// An object's number; several objects may refer to one.
using Ref = std::uint32_t;

struct Object {
  Kind kind = Kind::none;
  bool object = false;                                 // dict: attributes of an object
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // function, storage, tensor
  std::int64_t number =
      0;  // truth, integer; function, tensor: which; storage: elements; made: its class, an object
  double real = 0;
  std::string
      text;  // text, bytes; function: its name, if objects need it; storage: its name in the archive
  std::vector<Ref> items;
};

struct TensorPlace {
  Ref storage = 0;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  std::int64_t offset = 0;  // in elements
  Sizes sizes;
  Sizes strides;
};

// The classes of tensordict. The state of `consolidated` is a description and a tensor.
namespace made {
inline constexpr std::string_view make = "tensordict._reductions._make_td";
inline constexpr std::string_view consolidated =
    "tensordict._reductions._rebuild_tensordict_files_consolidated";
inline constexpr std::string_view dict = "tensordict._td.TensorDict";
inline constexpr std::string_view lazy = "tensordict._lazy.LazyStackedTensorDict";
inline constexpr std::string_view parameters = "tensordict.nn.params.TensorDictParams";
inline constexpr std::string_view value = "tensordict.tensorclass.NonTensorData";
inline constexpr std::string_view values = "tensordict.tensorclass.NonTensorStack";
inline constexpr std::string_view locked_schema = "tensordict.utils._LockedSchema";
}  // namespace made

struct Pickle {
  std::vector<Object> objects;
  std::vector<TensorPlace> tensors;
  Ref root = 0;
  // How long plain values may be as text together. Few bytes can say very many values, since an object may be met often.
  std::size_t most_text = 0;
};

// Reads a pickle of protocols 2 to 5. Throws Code::format for damage, Code::unsupported for a function, or an object, that
// is unknown. `where` begins the messages.
Pickle read(std::string_view text, const std::string& where, std::size_t max_objects);

// Reads a pickle of any Python objects: those that are not plain values become foreign.
Pickle read_foreign(std::string_view text, const std::string& where, std::size_t max_objects);

// A plain value; numeric keys become digits, infinities and NaN null, as in Python's writer of the format.
// Code::unsupported for other values, Code::format if it is nested too deep or its text longer than `bytes_left`,
// which falls by that length.
Plain plain_of(const Pickle& pickle, Ref value, std::size_t& bytes_left, const std::string& where);

// Of what was made.
const std::string& class_of(const Pickle& pickle, const Object& made);

// Nothing but what is known is made.
[[noreturn]] void fail_unknown(std::string_view name, const std::string& where);

// The key as a name: its text, or the digits of an integer.
std::string key_of(const Pickle& pickle, Ref key, const std::string& where);

}  // namespace td::pickled
