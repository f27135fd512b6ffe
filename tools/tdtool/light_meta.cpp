// Reads the text of a meta.json. It may come from anybody: no tree of it is built, and depth and counts are limited.
#include "light_meta.h"

#include <unordered_set>

#include "light_json.h"

namespace light {

namespace {

constexpr std::size_t max_depth = 100, max_dims = 64, max_fields = 100000;

[[noreturn]] void leave() { throw NotPlain(); }

class Reader final : public JsonReader {
 public:
  Meta take() {
    if (depth_ != 0 || !(is_dictionary_ || meta_.is_value)) leave();
    meta_.data = data_.take();
    if (meta_.is_value && (meta_.data.empty() || !meta_.fields.empty() || meta_.has_batch)) leave();
    if (is_dictionary_ && (!meta_.has_batch || !meta_.data.empty())) leave();
    return std::move(meta_);
  }

  bool null() override { return scalar("null", false); }
  bool boolean(bool value) override {
    if (depth_ == 2 && in_field_ && property_ == "is_nested") {
      if (value) leave();  // a nested tensor
      field().has_is_nested = true;
    }
    return scalar(value ? "true" : "false", false);
  }
  bool number_integer(std::int64_t value) override { return scalar(std::to_string(value), false); }
  bool number_unsigned(std::uint64_t value) override {
    if (sizes_ != nullptr) {
      if (value > std::uint64_t{1} << 62 || sizes_->size() == max_dims) leave();
      sizes_->push_back(static_cast<std::int64_t>(value));
      return true;
    }
    return scalar(std::to_string(value), false);
  }
  bool number_float(double, const std::string &digits) override { return scalar(digits, false); }
  bool string(std::string &value) override {
    if (depth_ == 1 && name_ == "_type") {
      is_dictionary_ = value == "<class 'tensordict._td.TensorDict'>";
      meta_.is_value = value == "<class 'tensordict.tensorclass.NonTensorData'>";
      if (!is_dictionary_ && !meta_.is_value) leave();
      return true;
    }
    if (depth_ == 2 && in_field_ && property_ == "dtype") field().dtype = value;
    return scalar(in_data() ? in_quotes(value) : value, true);
  }

  bool start_object(std::size_t) override {
    if (depth_ == 0 && begun_) leave();
    begun_ = true;
    open('{');
    if (depth_ != 2 || name_ == "data") return true;
    if (name_ == "shape" || name_ == "device" || name_ == "_type") leave();
    if (meta_.fields.size() == max_fields || name_.find('\0') != std::string::npos) leave();
    meta_.fields.emplace_back();
    field().name = name_;
    in_field_ = true;
    return true;
  }
  bool end_object() override { return close('}'); }
  bool start_array(std::size_t) override {
    if (depth_ == 0 || sizes_ != nullptr) leave();
    open('[');
    if (depth_ == 2 && name_ == "shape") {
      meta_.has_batch = true;
      sizes_ = &meta_.batch;
    } else if (depth_ == 3 && in_field_ && property_ == "shape") {
      field().has_shape = true;
      sizes_ = &field().shape;
    } else if (in_field_) {
      leave();
    }
    return true;
  }
  bool end_array() override {
    sizes_ = nullptr;
    return close(']');
  }
  bool key(std::string &value) override {
    if (depth_ == 1) {
      name_ = value;
      if (!names_.insert(name_).second) leave();
    } else if (in_field_) {
      property_ = value;
      if (depth_ != 2) leave();
    } else if (in_data()) {
      data_.key(value);
    }
    return true;
  }

 private:
  bool in_data() const { return name_ == "data" && depth_ >= 1; }
  Field &field() { return meta_.fields.back(); }

  bool scalar(const std::string &text, bool is_text) {
    if (depth_ == 0 || sizes_ != nullptr) leave();
    if (in_data()) {
      data_.add(text);
    } else if (depth_ == 1) {
      if (name_ == "shape" || name_ == "_type") leave();
      if (name_ == "device" && !is_text && text != "null") leave();
    } else if (in_field_) {
      if (property_ == "type") field().is_node = text != "null" || is_text;
      if (property_ == "dtype" && !is_text) leave();
      if (property_ == "shape") leave();
      if (property_ == "is_nested" && (is_text || (text != "false" && text != "true"))) leave();
    }
    return true;
  }

  void open(char bracket) {
    if (++depth_ > max_depth) leave();
    if (depth_ > 1 && in_data()) data_.open(bracket);
  }

  bool close(char bracket) {
    if (depth_ > 1 && in_data()) data_.close(bracket);
    --depth_;
    if (depth_ <= 1) in_field_ = false;
    return true;
  }

  Meta meta_;
  JsonText data_;
  std::unordered_set<std::string> names_;
  std::string name_, property_;
  std::vector<std::int64_t> *sizes_ = nullptr;
  std::size_t depth_ = 0;
  bool begun_ = false, in_field_ = false, is_dictionary_ = false;
};

}  // namespace

Meta parse_meta(const std::string &text) {
  // Words for numbers that JSON lacks.
  if (text.find("NaN") != std::string::npos || text.find("Infinity") != std::string::npos) leave();
  Reader reader;
  reader.run(text);
  return reader.take();
}

}  // namespace light
