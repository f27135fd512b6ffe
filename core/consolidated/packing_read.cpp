// Parses the text of packed tensors, which is not trusted: one pass over the JSON with a state for
// each open bracket, then checks.
#include "core/consolidated/packing.h"

#include "core/formats/format.h"
#include "core/formats/json_reader.h"
#include "core/tensor/dtype.h"
#include "core/tensor/sizes.h"

#include <algorithm>
#include <unordered_set>

namespace td::packing {

namespace {

using Dict = Parsed::Dict;

class PackedReader final : public json::Reader {
 public:
  PackedReader(const std::string& where, const Limits& limits, std::size_t bytes,
               std::vector<Dict>& dicts)
      : Reader(where, limits.depth + max_json_depth + 8),
        where_(where),
        limits_(limits),
        bytes_(bytes),
        dicts_(dicts) {}

 private:
  // The meaning of an open bracket.
  enum class In : std::uint8_t {
    dict,      // { of a dictionary
    data,      // { of its non-tensor values
    datum,     // [ of one of them
    value,     // any bracket inside such a value
    leaves,    // { of its tensors
    leaf,      // [ of one of them
    metadata,  // {
    names,     // [ of the names of dimensions
    sizes,     // [ of numbers
    ignored,
  };

  In state() const { return states_.back(); }
  Dict& dict() { return dicts_[open_.back()]; }
  Parsed::Leaf& leaf() { return dict().leaves.back(); }
  Parsed::NonTensor& datum() { return dict().data.back(); }

  void on_key(std::string_view key) override {
    switch (state()) {
      case In::value: value_.name(key); return;
      case In::dict: key_of(dict_keys_.back(), key); return;
      case In::data:
      case In::leaves:
        check_entry(key);
        name_ = key;
        return;
      case In::metadata: field_ = key; return;
      default: return;
    }
  }

  void key_of(std::unordered_set<std::string>& seen, std::string_view key) {
    if (!seen.emplace(key).second) fail_here("two fields are called ", quote(key));
    field_ = key;
  }

  void check_entry(std::string_view key) {
    if (++entries_ > limits_.entries) fail_here("more entries than allowed");
    if (key.find('\0') != key.npos) fail_here("the key ", quote(key), " holds a NUL");
  }

  static bool has_mark(std::string_view key, std::string_view mark) {
    return key.substr(0, mark.size()) == mark;
  }

  void on_open(bool is_object) override {
    if (states_.empty()) {
      if (!is_object) fail_here("not an object");
      begin_dict({});
      return;
    }
    switch (state()) {
      case In::dict: open_in_dict(is_object); return;
      case In::data:
        if (is_object) fail_here("the value ", quote(name_), " is not a list");
        dict().data.push_back({name_, {}, {}, std::nullopt});
        item_ = 0;
        states_.push_back(In::datum);
        return;
      case In::datum:
        if (item_ == 0) {
          value_depth_ = 1;
          value_.open();
          states_.push_back(In::value);
        } else if (item_ == 1 && !is_object) {
          begin_sizes(datum().batch);
        } else {
          fail_entry();
        }
        return;
      case In::value:
        if (++value_depth_ > max_json_depth) {
          fail_here("the value ", quote(name_), " is nested deeper than ", max_json_depth,
                    " levels");
        }
        value_.open();
        states_.push_back(In::value);
        return;
      case In::leaves:
        if (is_object) fail_here("the tensor ", quote(name_), " is not a list");
        dict().leaves.emplace_back();
        leaf().key = name_;
        item_ = 0;
        states_.push_back(In::leaf);
        return;
      case In::leaf:
        if (item_ != 1 || is_object) fail_entry();
        begin_sizes(leaf().sizes);
        return;
      case In::metadata: open_in_metadata(is_object); return;
      case In::names:
      case In::sizes: fail_here("a list holds something that does not belong there");
      case In::ignored: states_.push_back(In::ignored); return;
    }
  }

  void open_in_dict(bool is_object) {
    if (!is_object) fail_here("the field ", quote(field_), " is not an object");
    if (field_ == "non_tensors") {
      states_.push_back(In::data);
    } else if (field_ == "leaves") {
      states_.push_back(In::leaves);
    } else if (field_ == "cls_metadata") {
      states_.push_back(In::metadata);
    } else {
      check_entry(field_);
      begin_dict(field_);
    }
  }

  void open_in_metadata(bool is_object) {
    if (field_ == "names" && !is_object) {
      dict().names.clear();
      states_.push_back(In::names);
    } else if (field_ == "batch_size" && !is_object) {
      dict().has_batch = true;
      begin_sizes(dict().batch);
    } else if (field_ == "names" || field_ == "batch_size") {
      fail_here(quote(field_), " is not a list");
    } else {
      states_.push_back(In::ignored);
    }
  }

  void begin_dict(std::string key) {
    if (open_.size() > limits_.depth) {
      fail_here("nested deeper than ", limits_.depth, " levels");
    }
    const std::size_t number = dicts_.size();
    if (!open_.empty()) dict().dicts.push_back(number);
    dicts_.emplace_back();
    dicts_.back().key = std::move(key);
    open_.push_back(number);
    dict_keys_.emplace_back();
    states_.push_back(In::dict);
  }

  void begin_sizes(Sizes& sizes) {
    sizes.clear();
    sizes_ = &sizes;
    states_.push_back(In::sizes);
  }

  void on_close(bool is_object) override {
    const In closed = state();
    states_.pop_back();
    switch (closed) {
      case In::dict: {
        const Dict& done = dict();
        if (done.kind == Dict::Kind::none) fail_here("the field \"cls\" is missing");
        if (done.kind == Dict::Kind::dense ? !done.has_batch : done.stack_dim < 0) {
          fail_here("a dictionary has no ",
                    done.kind == Dict::Kind::dense ? "\"batch_size\"" : "\"stack_dim\"");
        }
        open_.pop_back();
        dict_keys_.pop_back();
        return;
      }
      case In::datum:
        if (item_ != 3) fail_entry();
        return;
      case In::leaf:
        if (item_ != 5 && !(item_ == 6 && has_mark(name_, offsets_mark))) fail_entry();
        check_leaf();
        return;
      case In::value:
        --value_depth_;
        value_.close(is_object);
        if (state() == In::datum) end_value();
        return;
      case In::sizes:
        sizes_ = nullptr;
        if (state() != In::metadata) ++item_;
        return;
      default: return;
    }
  }

  void end_value() {
    datum().value = value_.take();
    ++item_;
  }

  void on_scalar(const Plain& value) override {
    if (states_.empty()) fail_here("not an object");
    switch (state()) {
      case In::dict:
        if (field_ != "cls" || !value.is(Plain::text)) {
          fail_here("the field ", quote(field_), " is not an object");
        }
        set_class(value.characters());
        return;
      case In::data:
      case In::leaves: fail_here(quote(name_), " is not a list");
      case In::datum:
        if (item_ == 0) {
          value_.add(value);
          end_value();
        } else if (item_ == 2) {
          datum().device = text_or_null(value);
          ++item_;
        } else {
          fail_entry();
        }
        return;
      case In::value: value_.add(value); return;
      case In::leaf: leaf_item(value); return;
      case In::metadata: metadata_item(value); return;
      case In::names:
        if (dict().names.size() == max_listed_dims)
          fail_here("more than ", max_listed_dims, " names");
        dict().names.push_back(text_or_null(value));
        return;
      case In::sizes:
        if (sizes_->size() == max_listed_dims)
          fail_here("more than ", max_listed_dims, " dimensions");
        sizes_->push_back(number(value));
        return;
      case In::ignored: return;
    }
  }

  void set_class(std::string_view name) {
    if (name == "TensorDict") {
      dict().kind = Dict::Kind::dense;
    } else if (name == "LazyStackedTensorDict") {
      dict().kind = Dict::Kind::lazy;
    } else if (name == "NonTensorStack") {
      dict().kind = Dict::Kind::non_tensor_stack;
    } else if (std::string tensorclass = format::tensorclass_of_class(name); !tensorclass.empty()) {
      dict().kind = Dict::Kind::dense;
      dict().tensorclass = std::move(tensorclass);
    } else {
      fail(Code::unsupported, where_, ": entries of type ", quote(name), " cannot be read yet");
    }
  }

  // dtype, sizes, first byte, end, padding before the end
  void leaf_item(const Plain& value) {
    switch (item_++) {
      case 0:
        if (!value.is(Plain::text)) fail_entry();
        leaf().dtype = parse_dtype(value.characters(), where_ + ": " + quote(name_));
        return;
      case 2: leaf().start = static_cast<std::size_t>(number(value)); return;
      case 3: stop_ = static_cast<std::size_t>(number(value)); return;
      case 4: pad_ = static_cast<std::size_t>(number(value)); return;
      case 5: leaf().nested_tensor_dim = number(value); return;
      default: fail_entry();
    }
  }

  void check_leaf() {
    Parsed::Leaf& it = leaf();
    const std::optional<std::int64_t> bytes = checked_bytes(it.sizes, c10::elementSize(it.dtype));
    if (!bytes) {
      fail_here(quote(name_), " has shape ", show_sizes(it.sizes), ", which is too large");
    }
    it.bytes = static_cast<std::size_t>(*bytes);
    if (it.start > stop_ || stop_ > bytes_) {
      fail_here(quote(name_), " lies from byte ", it.start, " to ", stop_, " of ", bytes_);
    }
    if (pad_ > stop_ - it.start || stop_ - it.start - pad_ != it.bytes) {
      fail_here(quote(name_), " of shape ", show_sizes(it.sizes), " takes ", it.bytes,
                " bytes, not the ", stop_ - it.start, " less ", pad_, " that its entry gives");
    }
  }

  void metadata_item(const Plain& value) {
    if (field_ == "device") {
      dict().device = text_or_null(value);
    } else if (field_ == "is_locked") {
      if (!value.is(Plain::boolean)) fail_here("\"is_locked\" is not true or false");
      dict().locked = value.truth();
    } else if (field_ == "stack_dim") {
      dict().stack_dim = number(value);
    } else if (field_ == "stack_dim_name") {
      dict().stack_name = text_or_null(value);
    } else if (field_ == "names") {
      if (!value.is(Plain::null)) fail_here("\"names\" is not a list");
    } else if (field_ == "batch_size") {
      fail_here("\"batch_size\" is not a list");
    }
  }

  std::int64_t number(const Plain& value) const {
    if (!value.is(Plain::integer) || value.integral() < 0) {
      fail_here("a value that must be a number of at least 0 is not");
    }
    return value.integral();
  }

  std::optional<std::string> text_or_null(const Plain& value) const {
    if (value.is(Plain::null)) return std::nullopt;
    if (!value.is(Plain::text)) fail_here("a value is neither a string nor null");
    return std::string(value.characters());
  }

  [[noreturn]] void fail_entry() const {
    fail_here("the entry ", quote(name_), " has an unexpected form");
  }

  const std::string& where_;
  const Limits& limits_;
  std::size_t bytes_;
  std::vector<Dict>& dicts_;
  std::vector<In> states_;
  std::vector<std::size_t> open_;                           // of the enclosing dictionaries
  std::vector<std::unordered_set<std::string>> dict_keys_;  // keys seen in each open dictionary
  std::string field_;                                       // of a dictionary or of its metadata
  std::string name_;                                        // of a tensor or a value
  int item_ = 0;                                            // of its list
  Sizes* sizes_ = nullptr;
  std::size_t stop_ = 0;
  std::size_t pad_ = 0;
  std::size_t entries_ = 0;
  std::size_t value_depth_ = 0;
  PlainBuilder value_;
};

}  // namespace

Parsed::Parsed(std::string_view text, std::string where, std::size_t bytes, const Limits& limits)
    : where_(std::move(where)) {
  PackedReader reader(where_, limits, bytes, dicts_);
  reader.run(text);
  check();
}

Parsed::Parsed(const Plain& value, std::string where, std::size_t bytes, const Limits& limits)
    : where_(std::move(where)) {
  PackedReader reader(where_, limits, bytes, dicts_);
  send(value, reader);
  check();
}

void Parsed::check() {
  if (dicts_.empty()) fail(Code::format, where_, ": not an object");
  check_places();
  for (const Dict& dict : dicts_) {
    for (const Leaf& leaf : dict.leaves) bytes_ = std::max(bytes_, leaf.start + leaf.bytes);
  }
}

// Tensors lie beside each other, or are one and the same.
void Parsed::check_places() const {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const Dict& dict : dicts_) {
    for (const Leaf& leaf : dict.leaves) {
      if (leaf.bytes != 0) places.emplace_back(leaf.start, leaf.start + leaf.bytes);
    }
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i].first < places[i - 1].second && places[i] != places[i - 1]) {
      fail(Code::format, where_, ": two tensors overlap at byte ", places[i].first);
    }
  }
}

}  // namespace td::packing
