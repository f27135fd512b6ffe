// core/store/entry.h: how a server stores an entry of Python's TensorDictStore: keys, metadata, bytes.
#pragma once

#include "core/store/answers.h"

#include "core/base/key.h"
#include "core/formats/plain.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

namespace td::store {

// The server's keys for one dictionary. An entry's path is its names, joined by dots.
class ServerKeys {
 public:
  ServerKeys(const std::string& prefix, const std::string& id)
      : begin_(prefix + ":{" + id + "}:") {}

  std::string data(std::string_view path) const { return begin_ + "d:" + std::string(path); }
  std::string meta(std::string_view path) const { return begin_ + "m:" + std::string(path); }
  std::string paths() const { return begin_ + "__keys__"; }
  std::string batch() const { return begin_ + "__batch_size__"; }
  std::string device() const { return begin_ + "__device__"; }
  std::string tensorclass() const { return begin_ + "__tensorclass__"; }
  std::string type() const { return begin_ + "__type__"; }    // Python's LazyStackedTensorDictStore
  std::string maker() const { return begin_ + "__maker__"; }  // marks which client created it

 private:
  std::string begin_;
};

// A random id in the form of Python's uuid4().
std::string random_id();

// Throws Code::key_invalid for a name with a dot: the path would be ambiguous.
std::string joined(Path path);
std::vector<std::string> split(std::string_view path);

// Checks a path that the server sent; Code::format if it is not a valid key.
void check_stored_path(std::string_view path, const std::string& where);

// The metadata of an entry.
struct Meta {
  bool is_tensor = true;
  Sizes sizes;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  std::string shape_text, dtype_text;  // as stored in the server
  std::string encoding;                // of a non-tensor value

  // Bytes of the tensor, and of one element along its first dimension. Code::format on overflow.
  std::int64_t bytes() const { return bytes_behind(0); }
  std::int64_t row_bytes() const { return bytes_behind(sizes.empty() ? 0 : 1); }
  bool operator==(const Meta& other) const;
  bool operator!=(const Meta& other) const { return !(*this == other); }

 private:
  std::int64_t bytes_behind(std::size_t dims) const;
};

// Asks for the metadata, and parses the reply. `where` names the entry in messages.
inline constexpr std::size_t meta_fields = 4;
void ask_meta(class Request& request, const ServerKeys& keys, std::string_view path);
bool has_meta(const std::vector<Answer>& fields);
Meta read_meta(const Answer& answer, const std::string& where);

Sizes parse_sizes(std::string_view json, const std::string& where);

// The entry's bytes in the reply to GET. Python's from_schema() stores no value for a tensor
// without elements.
std::string_view value_bytes(const Answer& answer, const Meta& meta, const std::string& where);

// A tensor over bytes from the server. Code::format if their number does not fit `sizes`.
at::Tensor tensor_of(std::string_view bytes, const Meta& meta, SizesView sizes,
                     const std::string& where);

// A non-tensor value.
Plain plain_of(std::string_view bytes, const Meta& meta, const std::string& where);

// A contiguous CPU tensor of the same values. Throws Code::unsupported or Code::device if the
// tensor has no plain values, and Code::capacity if it is larger than a server allows.
at::Tensor plain(const at::Tensor& tensor, std::string_view path);
std::string_view bytes_view(const at::Tensor& plain);

}  // namespace td::store
