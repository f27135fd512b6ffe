// core/store/entry.h: how an entry of Python's TensorDictStore lies in a server: its keys, its metadata, its bytes.
#pragma once

#include "core/store/answers.h"

#include "core/base/key.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

namespace td::store {

// The keys of one dictionary. An entry is called by its path, the names joined by dots.
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
  std::string type() const {
    return begin_ + "__type__";
  }  // of Python's LazyStackedTensorDictStore
  std::string maker() const { return begin_ + "__maker__"; }  // of one that was made just now

 private:
  std::string begin_;
};

// An id as Python's uuid4() makes it, from the numbers of the system.
std::string random_id();

// Throws Code::key_invalid for a name that holds a dot: the server could not tell it from a path.
std::string joined(Path path);
std::vector<std::string> split(std::string_view path);

// A path that the server sent: Code::format for what can be no key.
void check_stored_path(std::string_view path, const std::string& where);

// What stands beside the bytes of an entry.
struct Meta {
  bool is_tensor = true;
  Sizes sizes;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  std::string shape_text, dtype_text;  // as they lie in the server
  std::string encoding;                // of a value that is no tensor

  // Of a tensor, and of one element along its first dimension. Code::format when it has too many.
  std::int64_t bytes() const { return bytes_behind(0); }
  std::int64_t row_bytes() const { return bytes_behind(sizes.empty() ? 0 : 1); }
  bool operator==(const Meta& other) const;
  bool operator!=(const Meta& other) const { return !(*this == other); }

 private:
  std::int64_t bytes_behind(std::size_t dims) const;
};

// The command that reads it, and its answer. `where` begins the messages and names the entry.
inline constexpr std::size_t meta_fields = 4;
void ask_meta(class Request& request, const ServerKeys& keys, std::string_view path);
bool has_meta(const std::vector<Answer>& fields);
Meta read_meta(const Answer& answer, const std::string& where);

Sizes parse_sizes(std::string_view json, const std::string& where);

// The bytes of an entry out of the answer to GET. Python's from_schema() stores none for a tensor without elements.
std::string_view value_bytes(const Answer& answer, const Meta& meta, const std::string& where);

// Bytes of the server as a tensor of these sizes. Code::format when they are more or fewer.
at::Tensor tensor_of(std::string_view bytes, const Meta& meta, SizesView sizes,
                     const std::string& where);

// A value that is no tensor, as JSON text.
std::string json_of(std::string_view bytes, const Meta& meta, const std::string& where);

// The elements of a JSON list, each as text.
std::vector<std::string> elements_of(const std::string& json, const std::string& where);

// Row-major bytes on the CPU, which the tensor keeps. Throws Code::unsupported and Code::device for what has no plain
// values, and Code::capacity for more bytes than a server keeps.
at::Tensor plain(const at::Tensor& tensor, std::string_view path);
std::string_view bytes_view(const at::Tensor& plain);

}  // namespace td::store
