// Reads the meta.json of a dictionary.
#include "core/formats/format_read.h"

#include "core/base/sizes.h"
#include "core/formats/json_reader.h"

#include <algorithm>
#include <unordered_set>

namespace td::format {

namespace {

// A dictionary: each field that is an object is an entry.
class DenseReader final : public json::Reader {
 public:
  DenseReader(const std::string& where, const Limits& limits, NodeText& result)
      : Reader(where, limits.depth), where_(where), max_entries_(limits.entries), result_(result) {}

 private:
  void on_key(std::string_view key) override {
    if (depth() == 1) {
      field_ = key;
    } else if (depth() == 2 && in_entry_) {
      property_ = key;
    }
  }

  void on_open(bool is_object) override {
    if (depth() == 2) {
      if (is_object) {
        begin_entry();
      } else if (field_ == "shape") {
        begin_sizes(result_.batch);
      } else if (field_ == names_field) {
        if (in_names_ || has_names_) fail_here("two fields are called ", quote(field_));
        in_names_ = has_names_ = true;
      }
    } else if (in_names_) {
      fail_name();
    } else if (sizes_ != nullptr) {
      fail_here(shape_name(), " is not a list of numbers");
    } else if (depth() == 3 && in_entry_) {
      if (!is_object && property_ == "shape") {
        begin_sizes(entry().shape);
        entry().has_shape = true;
      } else if (property_ == "type") {
        entry().is_node = true;
      }
    }
  }

  void on_close(bool) override {
    if (depth() == sizes_depth_) sizes_ = nullptr;
    if (depth() == 1) in_entry_ = in_names_ = false;
    if (depth() == 0 && has_names_) check_names();
  }

  void on_scalar(const Plain& value) override {
    if (in_names_) {
      add_name(value);
    } else if (sizes_ != nullptr) {
      add_size(value);
    } else if (depth() == 1) {
      if (field_ == "device") set_device(value);
      if (field_ == version_field && is_later(value)) fail_later(where_, value);
      if (field_ == "shape") fail_here("\"shape\" is not a list");
    } else if (depth() == 2 && in_entry_) {
      set_property(value);
    }
  }

  void begin_entry() {
    if (reserved(field_)) fail_here(quote(field_), " is not the name of an entry");
    if (result_.entries.size() == max_entries_) fail_here("more entries than allowed");
    if (field_.find('\0') != std::string::npos)
      fail_here("the key ", quote(field_), " holds a NUL");
    if (!seen_.insert(field_).second) fail_here("two entries are called ", quote(field_));
    result_.entries.emplace_back();
    entry().key = field_;
    in_entry_ = true;
  }

  [[noreturn]] void fail_name() const {
    fail_here(quote(names_field), " holds something that is not a name");
  }

  void add_name(const Plain& value) {
    if (!value.is(Plain::null) && !value.is(Plain::text)) fail_name();
    if (result_.names.size() == max_listed_dims)
      fail_here(quote(names_field), " has more than ", max_listed_dims, " names");
    result_.names.push_back(value.is(Plain::null) ? std::nullopt
                                                  : std::optional<std::string>(value.characters()));
  }

  // As in Python, a list of another length is no harm if not all have a name.
  void check_names() {
    Names& names = result_.names;
    const auto unset = std::count(names.begin(), names.end(), std::nullopt);
    if (names.size() != result_.batch.size() && unset == 0) {
      fail_here(names.size(), " names for the batch size ", show_sizes(result_.batch));
    }
    for (auto one = names.begin(); one != names.end(); ++one) {
      if (*one && std::find(names.begin(), one, *one) != one)
        fail_here("two dimensions are called ", quote(**one));
    }
    const bool none = static_cast<std::size_t>(unset) == names.size();
    if (none || names.size() != result_.batch.size()) names.clear();
  }

  void begin_sizes(Shape& sizes) {
    sizes.clear();
    sizes_ = &sizes;
    sizes_depth_ = depth() - 1;
  }

  void add_size(const Plain& value) {
    if (!value.is(Plain::integer) || value.integral() < 0) {
      fail_here(shape_name(), " holds something that is not a size");
    }
    if (sizes_->size() == max_listed_dims)
      fail_here(shape_name(), " has more than ", max_listed_dims, " dimensions");
    sizes_->push_back(value.integral());
  }

  void set_device(const Plain& value) {
    result_.device.reset();
    if (value.is(Plain::null)) return;
    if (!value.is(Plain::text)) fail_here("\"device\" is not a text");
    if (value.characters() != "None") result_.device = std::string(value.characters());
  }

  void set_property(const Plain& value) {
    if (property_ == "type") {
      entry().is_node = !value.is(Plain::null);
    } else if (property_ == "dtype") {
      if (!value.is(Plain::text)) fail_here("the dtype of ", quote(field_), " is not a text");
      entry().dtype = value.characters();
    } else if (property_ == "shape") {
      fail_here(shape_name(), " is not a list");
    } else if (property_ == "is_nested") {
      if (!value.is(Plain::boolean))
        fail_here("\"is_nested\" of ", quote(field_), " is not true or false");
      entry().has_is_nested = true;
      entry().nested_tensor = value.truth();
    }
  }

  std::string shape_name() const {
    return in_entry_ ? "the shape of " + quote(field_) : "the batch size";
  }

  Entry& entry() { return result_.entries.back(); }

  const std::string& where_;
  std::size_t max_entries_;
  NodeText& result_;
  std::unordered_set<std::string> seen_;
  std::string field_;
  std::string property_;
  bool in_names_ = false;
  bool has_names_ = false;
  bool in_entry_ = false;
  Shape* sizes_ = nullptr;  // the list being read
  std::size_t sizes_depth_ = 0;
};

}  // namespace

void read_dense(std::string_view text, const std::string& where, const Limits& limits,
                NodeText& result) {
  DenseReader(where, limits, result).run(text);
}

}  // namespace td::format
