// The header of a safetensors file: the number of its bytes, and a JSON text.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "light_flat.h"
#include "light_json.h"

namespace light {

namespace {

constexpr std::uint64_t max_header = std::uint64_t{1} << 24;
constexpr std::size_t max_metadata = 10000;

Dtype dtype_of(const std::string &name) {
  static const char *const names[][2] = {
      {"BOOL", "bool"},   {"U8", "uint8"},      {"I8", "int8"},       {"I16", "int16"},
      {"F16", "float16"}, {"BF16", "bfloat16"}, {"I32", "int32"},     {"F32", "float32"},
      {"F64", "float64"}, {"I64", "int64"},     {"C64", "complex64"},
  };
  for (const auto &row : names) {
    if (name == row[0]) return dtype_named(row[1]);
  }
  throw NotPlain();
}

struct Tensor {
  std::string name;
  std::optional<Dtype> dtype;
  std::optional<Sizes> sizes, places;
};

class HeaderReader final : public JsonReader {
 public:
  std::vector<Tensor> tensors;
  std::string extras;
  bool has_extras = false;

  bool start_object(std::size_t) override {
    if (depth_ > 1 || (depth_ == 0 && begun_)) throw NotPlain();
    begun_ = true;
    if (++depth_ == 1 || in_metadata()) return true;
    if (tensors.size() == max_lines) throw NotPlain();
    tensors.emplace_back();
    tensors.back().name = name_;
    return true;
  }
  bool end_object() override {
    if (--depth_ != 1 || in_metadata()) return true;
    const Tensor &done = tensors.back();
    if (!done.dtype || !done.sizes || !done.places || done.places->size() != 2) throw NotPlain();
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata() || list_ != nullptr) throw NotPlain();
    if (field_ != "shape" && field_ != "data_offsets") throw NotPlain();
    std::optional<Sizes> &list = field_ == "shape" ? tensors.back().sizes : tensors.back().places;
    if (list) throw NotPlain();
    list_ = &list.emplace();
    return true;
  }
  bool end_array() override {
    list_ = nullptr;
    return true;
  }
  bool key(std::string &value) override {
    if (depth_ == 1) {
      if (!names_.insert(value).second) throw NotPlain();
      name_ = value;
    } else {
      field_ = value;
      if (in_metadata() && !described_.insert(value).second) throw NotPlain();
      if (described_.size() > max_metadata) throw NotPlain();
    }
    return true;
  }
  bool string(std::string &value) override {
    if (depth_ != 2 || list_ != nullptr) throw NotPlain();
    if (!in_metadata()) {
      if (field_ != "dtype" || tensors.back().dtype) throw NotPlain();
      tensors.back().dtype = dtype_of(value);
    } else if (field_ == "tensordict") {
      extras = value;
      has_extras = true;
    }
    return true;
  }
  bool number_unsigned(std::uint64_t value) override {
    if (list_ == nullptr || list_->size() == max_dims || value > std::uint64_t{1} << 62)
      throw NotPlain();
    list_->push_back(static_cast<std::int64_t>(value));
    return true;
  }

 private:
  bool in_metadata() const { return name_ == "__metadata__"; }

  std::unordered_set<std::string> names_, described_;
  std::string name_, field_;
  Sizes *list_ = nullptr;
  std::size_t depth_ = 0;
  bool begun_ = false;
};

// From the begin of the data to the end of the file, without a hole and without an overlap.
void check_places(const std::vector<Tensor> &tensors, std::uint64_t data) {
  std::vector<const Sizes *> order;
  for (const Tensor &one : tensors) {
    const auto first = static_cast<std::uint64_t>((*one.places)[0]);
    const auto past = static_cast<std::uint64_t>((*one.places)[1]);
    if (past < first || bytes_of(*one.sizes, one.dtype->bytes) != past - first) throw NotPlain();
    order.push_back(&*one.places);
  }
  std::sort(order.begin(), order.end(), [](const Sizes *a, const Sizes *b) { return *a < *b; });
  std::int64_t at = 0;
  for (const Sizes *place : order) {
    if ((*place)[0] != at) throw NotPlain();
    at = (*place)[1];
  }
  if (static_cast<std::uint64_t>(at) != data) throw NotPlain();
}

}  // namespace

void read_safetensors(const File &file, Lines &to) {
  std::uint64_t length = 0;
  const std::string number = file.read(0, sizeof length);
  for (std::size_t i = sizeof length; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(number[i]);
  if (length > max_header || length > file.bytes() - sizeof length) throw NotPlain();
  const std::string text = file.read(sizeof length, static_cast<std::size_t>(length));
  if (text.empty() || text[0] != '{') throw NotPlain();
  HeaderReader header;
  header.run(text);
  check_places(header.tensors, file.bytes() - sizeof length - length);
  const Extras extras = header.has_extras ? parse_extras(header.extras) : Extras();
  FlatTree tree(extras.dicts.empty() ? Sizes() : extras.dicts[0].batch);
  for (std::size_t i = 1; i < extras.dicts.size(); ++i)
    tree.dictionary(extras.dicts[i].path, extras.dicts[i].batch);
  for (const Tensor &one : header.tensors) {
    const auto exact = extras.paths.find(one.name);
    tree.tensor(exact == extras.paths.end() ? split_name(one.name) : exact->second, *one.dtype,
                *one.sizes);
  }
  for (const Extras::Value &value : extras.values) tree.value(value.path, value.json);
  tree.write(to);
}

}  // namespace light
