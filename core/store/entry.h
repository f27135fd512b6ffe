// core/store/entry.h: how a server stores an entry of Python's TensorDictStore: keys, metadata, bytes.
#pragma once

#include "core/store/form.h"

#include "core/base/key.h"
#include "core/formats/plain.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

namespace td::store {

// A random id in the form of Python's uuid4().
std::string random_id();

// Throws Code::key_invalid for a name with a dot: the path would be ambiguous.
std::string joined(Path path);
std::vector<std::string> split(std::string_view path);

// Checks a path that the server sent; Code::format if it is not a valid key.
void check_stored_path(std::string_view path, const std::string& where);

// The metadata of an entry. In a lazy stack the tensors of the elements lie behind one another, or stacked
// along the stack dimension; if their shapes differ, only the former.
struct Meta {
  bool is_tensor = true;
  Sizes sizes;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  std::string shape_text, dtype_text;  // as stored in the server
  std::string encoding;                // of a non-tensor value
  std::int64_t front = 0;     // the dimension that lies in front of the others in the server
  std::vector<Sizes> shapes;  // of the elements, if they differ
  std::string shapes_text, layout_text;  // as stored in the server, for a lazy stack

  // Bytes of the tensor, and of one element along its first dimension. Code::format on overflow.
  std::int64_t bytes() const;
  std::int64_t row_bytes() const { return bytes_behind(sizes.empty() ? 0 : 1); }
  Sizes stored_sizes() const;  // in the order in which they lie in the server

  // Of shapes that differ: one element as an entry of its own, and where it begins.
  Meta element(std::int64_t number) const;
  std::int64_t offset(std::int64_t number) const;

  bool operator==(const Meta& other) const;
  bool operator!=(const Meta& other) const { return !(*this == other); }

 private:
  std::int64_t bytes_behind(std::size_t dims) const;
};

// Asks for the metadata, and parses the reply. `where` names the entry in messages.
void ask_meta(class Request& request, const ServerKeys& keys, std::string_view path,
              const Form& form);
bool has_meta(const std::vector<Answer>& fields);
Meta read_meta(const Answer& answer, const Form& form, const std::string& where);

// The entry's bytes in the reply to GET. Python's from_schema() stores no value for a tensor
// without elements.
std::string_view value_bytes(const Answer& answer, const Meta& meta, const std::string& where);

// A tensor over bytes from the server. Code::format if their number does not fit `sizes`.
at::Tensor tensor_of(std::string_view bytes, const Meta& meta, SizesView sizes,
                     const std::string& where);

// The whole tensor; Code::shape if its elements differ in shape. The tensors of the elements of a lazy stack.
at::Tensor whole_of(std::string_view bytes, const Meta& meta, const std::string& where);
std::vector<at::Tensor> elements_of(std::string_view bytes, const Meta& meta, const Form& form,
                                    const std::string& where);

// A non-tensor value.
Plain plain_of(std::string_view bytes, const Meta& meta, const std::string& where);

// A contiguous CPU tensor of the same values. Throws Code::unsupported or Code::device if the
// tensor has no plain values.
at::Tensor plain(const at::Tensor& tensor, std::string_view path);
std::string_view bytes_view(const at::Tensor& plain);

}  // namespace td::store
