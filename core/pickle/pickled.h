// core/pickle/pickled.h: pickles, as torch.save and tensordict write them, read by a small machine of our own that knows only values and the few
// functions that make tensors of storages; nothing else is ever called.
#pragma once

#include "core/base/error.h"
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
  list,  // also a tuple
  dict,  // its items are keys and values in turn
  function,
  storage,
  tensor,
  foreign,  // what only Python can make
};

// Objects are named by their numbers; several may hold one and the same.
using Ref = std::uint32_t;

struct Object {
  Kind kind = Kind::none;
  bool object = false;  // dict: the attributes of an object, not a dictionary
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // function, storage, tensor
  std::int64_t number = 0;  // truth, integer; function: which; storage: elements; tensor: which
  double real = 0;
  std::string text;  // text, bytes; storage: its name in the archive
  std::vector<Ref> items;
};

struct TensorPlace {
  Ref storage = 0;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  std::int64_t offset = 0;  // in elements
  Sizes sizes;
  Sizes strides;
};

struct Pickle {
  std::vector<Object> objects;
  std::vector<TensorPlace> tensors;
  Ref root = 0;
};

// Reads a pickle of protocols 2 to 5. Throws Code::format for what is damaged, and Code::unsupported for
// a class or function that is not one of the few known ones. `where` begins the messages.
Pickle read(std::string_view text, const std::string& where, std::size_t max_objects);

// The same for a pickle of any objects of Python: those that are no plain values are foreign, and nothing is
// known of them but where they stand.
Pickle read_foreign(std::string_view text, const std::string& where, std::size_t max_objects);

// A plain value as JSON text, a number as a key as its digits. Code::unsupported for what is none;
// Code::format when it is nested deeper than JSON may be, or its text gets longer than `max_bytes`.
std::string json_of(const Pickle& pickle, Ref value, std::size_t max_bytes,
                    const std::string& where);

// The name that a key stands for: a text, or the digits of a whole number.
std::string key_of(const Pickle& pickle, Ref key, const std::string& where);

}  // namespace td::pickled
