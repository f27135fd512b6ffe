// Non-tensor values of HDF5 files.
#include "core/hdf5/tree.h"

#include "core/formats/digits.h"
#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"
#include "core/tree/non_tensor.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unordered_set>

namespace td::hdf5 {

namespace {

// Allocates variable-length texts for the library, within the budget. Frees what the library leaks on
// failure.
class Purse {
 public:
  explicit Purse(std::uint64_t bytes) : left_(bytes) {}
  ~Purse() {
    for (void* memory : held_) std::free(memory);
  }
  Purse(const Purse&) = delete;
  Purse& operator=(const Purse&) = delete;

  bool empty() const noexcept { return empty_; }

  // Called from C code: must not throw.
  static void* take(std::size_t bytes, void* purse) {
    Purse& self = *static_cast<Purse*>(purse);
    if (bytes > self.left_) {
      self.empty_ = true;
      return nullptr;
    }
    void* memory = std::malloc(bytes == 0 ? 1 : bytes);
    try {
      if (memory != nullptr) self.held_.insert(memory);
    } catch (...) {
      std::free(memory);
      return nullptr;
    }
    self.left_ -= bytes;
    return memory;
  }
  static void give_back(void* memory, void* purse) {
    static_cast<Purse*>(purse)->held_.erase(memory);
    std::free(memory);
  }

 private:
  std::uint64_t left_;
  bool empty_ = false;
  std::unordered_set<void*> held_;
};

// Bytes that are not valid UTF-8 stay bytes.
Plain plain_text(std::string_view bytes) {
  return is_utf8(bytes) ? Plain::of_text(bytes) : plain_of_bytes(bytes);
}

// Fixed-size values; `one` may modify its bytes.
template <class One>
std::vector<Plain> fixed_items(const Source& source, const TypePlan& plan, std::size_t count,
                               const std::string& where, One&& one) {
  std::vector<char> memory(count * plan.item);
  if (!memory.empty()) read_raw(source, plan.memory, memory.data(), where);
  std::vector<Plain> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) result.push_back(one(memory.data() + i * plan.item));
  return result;
}

Plain text_at(const char* at, const TypePlan& plan) {
  std::string_view text(at, plan.item);
  text = text.substr(0, text.find('\0'));
  while (plan.blanks && !text.empty() && text.back() == ' ') text.remove_suffix(1);
  return plain_text(text);
}

void* memory_of(char* text) { return text; }
void* memory_of(const hvl_t& list) { return list.p; }
Plain plain_of(const char* text) { return plain_text(text == nullptr ? "" : text); }
Plain plain_of(const hvl_t& list) {
  return plain_of_bytes({static_cast<const char*>(list.p), list.p == nullptr ? 0 : list.len});
}

// Values for which the library gets memory: texts (`Item` is char*) and lists of bytes (hvl_t).
template <class Item>
std::vector<Plain> variable_items(const Source& source, const TypePlan& plan, std::size_t count,
                                  const std::string& where, const Budget& budget) {
  std::vector<Item> items(count, Item());
  std::vector<Plain> result;
  if (count == 0) return result;
  result.reserve(count);
  const auto take_over = [&] {
    for (const Item& item : items) result.push_back(plain_of(item));
  };
  if (source.is_attribute) {
    // Attributes cannot use our allocator, and each of their values may be as long as the file.
    if (count > 16 && count > budget.left() / std::max<std::uint64_t>(budget.file_bytes(), 1)) {
      budget.fail("an attribute of " + std::to_string(count) + " texts");
    }
    struct Free {
      std::vector<Item>& items;
      ~Free() {
        for (const Item& item : items) std::free(memory_of(item));
      }
    } free_at_end{items};
    read_raw(source, plan.memory, items.data(), where);
    take_over();
    return result;
  }
  Purse purse(budget.left());
  const Id transfer =
      need(H5Pcreate(H5P_DATASET_XFER), Code::out_of_memory, where, "no properties");
  need_done(H5Pset_vlen_mem_manager(transfer, Purse::take, &purse, Purse::give_back, &purse),
            Code::out_of_memory, where, "no properties");
  try {
    read_raw(source, plan.memory, items.data(), where, transfer);
  } catch (const Error&) {
    if (!purse.empty()) throw;
    budget.fail("text");
  }
  take_over();
  return result;
}

template <class T>
Plain real_at(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  std::string text;
  append_real(text, static_cast<double>(value));
  return Plain::of_digits(text);
}

// Complex ones have no tag of NumPy, and are no attributes: they do not come here.
Plain number_at(c10::ScalarType dtype, const char* at) {
  if (dtype == c10::ScalarType::Half) return real_at<c10::Half>(at);
  if (dtype == c10::ScalarType::BFloat16) return real_at<c10::BFloat16>(at);
  if (dtype == c10::ScalarType::Float) return real_at<float>(at);
  if (dtype == c10::ScalarType::Double) return real_at<double>(at);
  if (dtype == c10::ScalarType::Bool) return Plain::of_truth(*at != 0);
  const DTypeRow& row = *find_dtype(dtype_of(dtype));
  const int rest = 64 - 8 * row.bytes;
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, row.bytes);
  if (row.kind == NumberKind::whole)
    return Plain::of_integer(static_cast<std::int64_t>(bits << rest) >> rest);
  return bits > INT64_MAX ? Plain::of_digits(std::to_string(bits))
                          : Plain::of_integer(static_cast<std::int64_t>(bits));
}

std::vector<Plain> read_values(const Source& source, const TypePlan& plan, std::size_t count,
                               const std::string& where, const Budget& budget) {
  const auto each = [&](auto&& one) { return fixed_items(source, plan, count, where, one); };
  switch (plan.holds) {
    case Holds::text:
      if (plan.variable) return variable_items<char*>(source, plan, count, where, budget);
      return each([&](const char* at) { return text_at(at, plan); });
    case Holds::tensor:
    case Holds::number:
      return each([&](char* at) {
        if (plan.swapped) std::reverse(at, at + plan.item);
        return number_at(plan.dtype, at);
      });
    default:
      if (plan.variable) return variable_items<hvl_t>(source, plan, count, where, budget);
      return each([&](const char* at) { return plain_of_bytes({at, plan.item}); });
  }
}

// Values in lists. The first `dims` sizes are nonzero; if there are more, the innermost lists are empty.
Plain nested_lists(std::vector<Plain> values, SizesView sizes, std::size_t dims) {
  if (dims < sizes.size()) {
    const SizesView outer = sizes.slice(0, dims);
    values.assign(static_cast<std::size_t>(count_elements(outer)), Plain::of_list({}));
  }
  for (std::size_t dim = dims; dim-- > 0;) {
    const auto size = static_cast<std::ptrdiff_t>(sizes[dim]);
    std::vector<Plain> lists;
    for (auto at = values.begin(); at != values.end(); at += size)
      lists.push_back(Plain::of_list({at, at + size}));
    values = std::move(lists);
  }
  return values.at(0);
}

}  // namespace

void read_raw(const Source& source, hid_t memory_type, void* into, const std::string& where,
              hid_t transfer) {
  const herr_t status = source.is_attribute
                            ? H5Aread(source.object, memory_type, into)
                            : H5Dread(source.object, memory_type, source.memory_space,
                                      source.file_space, transfer, into);
  need_done(status, Code::format, where, "cannot read values");
}

Plain read_plain(const Source& source, const TypePlan& plan, SizesView sizes,
                 const std::string& where, const std::string& what, Budget& budget) {
  const std::ptrdiff_t zero = std::find(sizes.begin(), sizes.end(), 0) - sizes.begin();
  // Lists before a size of 0 are made, too. A value in memory is larger than in the file.
  constexpr std::size_t as_text = 48;
  budget.take(sizes.slice(0, static_cast<std::size_t>(zero)), plan.item + as_text, what);
  if (static_cast<std::size_t>(zero) < sizes.size()) {
    return nested_lists({}, sizes, static_cast<std::size_t>(zero));
  }
  const auto count = static_cast<std::size_t>(count_elements(sizes));
  return nested_lists(read_values(source, plan, count, where, budget), sizes, sizes.size());
}

Plain marked_json(const Plain& text, const std::string& where) {
  if (!text.is(Plain::text)) fail(Code::format, where, ": what is marked as JSON is no text");
  return read_value(text.characters(), where);
}

TypePlan plan_field(hid_t type, const std::vector<std::string>& fields, const std::string& where) {
  if (fields.empty()) return plan_type(type, where);
  Id at = need(H5Tcopy(type), Code::format, where, "bad type");
  for (const std::string& name : fields) {
    const int i = H5Tget_class(at) == H5T_COMPOUND ? H5Tget_member_index(at, name.c_str()) : -1;
    if (i < 0) fail(Code::busy, where, ": the file has changed since it was opened");
    at = need(H5Tget_member_type(at, static_cast<unsigned>(i)), Code::format, where, "bad type");
  }
  TypePlan plan = plan_type(at, where);
  if (plan.holds == Holds::nothing || plan.holds == Holds::fields) return plan;
  // A record with only that field makes the library read nothing else.
  for (std::size_t i = fields.size(); i-- > 0;) {
    Id record = need(H5Tcreate(H5T_COMPOUND, plan.item), Code::format, where, "bad type");
    need_done(H5Tinsert(record, fields[i].c_str(), 0, plan.memory), Code::format, where,
              "bad type");
    plan.memory = std::move(record);
  }
  return plan;
}

}  // namespace td::hdf5
