#include "core/hdf5/attributes.h"

#include "core/formats/digits.h"
#include "core/formats/json_text.h"
#include "core/hdf5/links.h"
#include "core/hdf5/value_arrays.h"

#include <algorithm>
#include <set>

namespace td::hdf5 {

namespace {

bool is_mark(std::string_view name) noexcept {
  return name == json_mark || name == text_mark || name == stack_mark;
}

void write_attribute(hid_t at, const std::string& name, hid_t type,
                     const std::vector<hsize_t>* sizes, const void* values,
                     const std::string& where) {
  const H5S_class_t plain = sizes == nullptr ? H5S_NULL : H5S_SCALAR;
  const Id space(sizes == nullptr || sizes->empty()
                     ? H5Screate(plain)
                     : H5Screate_simple(static_cast<int>(sizes->size()), sizes->data(), nullptr));
  if (H5Aexists(at, name.c_str()) > 0) {
    need_done(H5Adelete(at, name.c_str()), Code::io, where, "cannot replace an attribute");
  }
  const Id made = need(H5Acreate2(at, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                       Code::io, where, "cannot write an attribute");
  if (sizes != nullptr)
    need_done(H5Awrite(made, type, values), Code::io, where, "cannot write an attribute");
}

void write_attribute(hid_t at, const std::string& name, const Plain& value,
                     const std::string& where) {
  if (value.is(Plain::null)) {
    return write_attribute(at, name, H5T_NATIVE_INT8, nullptr, nullptr, where);
  }
  if (const auto numbers = collected<Numbers>(value)) {
    return write_attribute(at, name, type_of(numbers->dtype, where), &numbers->sizes,
                           numbers->data.data(), where);
  }
  std::uint64_t natural = 0;  // beyond int64
  if (value.is(Plain::real) && parse_digits(value.characters(), natural)) {
    const std::vector<hsize_t> one;
    return write_attribute(at, name, H5T_NATIVE_UINT64, &one, &natural, where);
  }
  auto texts = collected<Texts>(value);
  if (!texts) texts = Texts{{}, {json_text(value, name)}};
  const Id type = need(H5Tcopy(H5T_C_S1), Code::out_of_memory, where, "no type");
  need_done(H5Tset_size(type, H5T_VARIABLE), Code::out_of_memory, where, "no type");
  need_done(H5Tset_cset(type, H5T_CSET_UTF8), Code::out_of_memory, where, "no type");
  std::vector<const char*> data;
  for (const std::string& text : texts->data) data.push_back(text.c_str());
  write_attribute(at, name, type, &texts->sizes, data.data(), where);
}

// uint64, which some versions of libtorch lack: a number, or a list of them.
std::optional<Plain> natural_numbers(hid_t attribute, hid_t space, const std::string& where,
                                     Budget& budget) {
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const int dims = H5Sget_simple_extent_ndims(space);
  if (count < 0 || dims < 0 || dims > 1) return std::nullopt;
  budget.take(Sizes{count}, 48, "an attribute");
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(count));
  if (count != 0) {
    need_done(H5Aread(attribute, H5T_NATIVE_UINT64, numbers.data()), Code::format, where,
              "cannot read an attribute");
  }
  std::vector<Plain> values;
  for (const std::uint64_t number : numbers) {
    values.push_back(number > INT64_MAX ? Plain::of_digits(std::to_string(number))
                                        : Plain::of_integer(static_cast<std::int64_t>(number)));
  }
  if (dims == 1) return Plain::of_list(std::move(values));
  return values.empty() ? Plain() : values[0];
}

}  // namespace

void each_attribute(hid_t object, const std::string& where, const Options& options,
                    const std::function<void(const std::string& name, hid_t attribute)>& take) {
  H5O_info_t info{};
  need_done(H5Oget_info(object, &info), Code::format, where, "bad group or dataset");
  if (info.num_attrs > options.max_entries) fail_many(where, options);
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    const Id attribute =
        need(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
             Code::format, where, "bad attribute");
    const ssize_t length = H5Aget_name(attribute, 0, nullptr);
    if (length < 0) fail_library(Code::format, where, "bad attribute");
    std::string name(static_cast<std::size_t>(length), '\0');
    H5Aget_name(attribute, name.size() + 1, name.data());
    take(name, attribute);
  }
}

std::optional<Plain> attribute_value(hid_t attribute, const std::string& where,
                                     const std::string& called, Budget& budget) {
  const Id type = need(H5Aget_type(attribute), Code::format, where, "bad attribute");
  const Id space = need(H5Aget_space(attribute), Code::format, where, "bad attribute");
  const TypePlan plan = plan_type(type, where);
  if (plan.holds == Holds::nothing && H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 8)
    return natural_numbers(attribute, space, where, budget);
  const bool complex = plan.holds == Holds::tensor && c10::isComplexType(plan.dtype);
  if (plan.holds == Holds::nothing || plan.holds == Holds::fields || complex ||
      !plan.inner.empty()) {
    return std::nullopt;
  }
  Sizes sizes;
  hsize_t extent[H5S_MAX_RANK] = {};
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return Plain();
  const int dims = H5Sget_simple_extent_dims(space, extent, nullptr);
  if (dims < 0) fail_library(Code::format, where, "bad attribute");
  for (int i = 0; i < dims; ++i) {
    sizes.push_back(static_cast<std::int64_t>(std::min<hsize_t>(extent[i], INT64_MAX)));
  }
  return read_plain({attribute, true}, plan, sizes, where, quote(called), budget);
}

Plain attributes_of(hid_t file, const Tree& tree, const std::string& where, const Options& options,
                    Budget& budget) {
  const Id way = inside_file(H5P_LINK_ACCESS, where);
  PlainBuilder result;
  result.open();
  std::set<std::string> seen;  // the fields of a record are in one place
  for (const Entry& entry : tree) {
    if (!seen.insert(entry.place).second) continue;
    const Id object = need(H5Oopen(file, entry.place.c_str(), way), Code::format, where,
                           "cannot open a group or dataset");
    bool any = false;
    each_attribute(object, where, options, [&](const std::string& name, hid_t attribute) {
      if (is_mark(name) || !is_utf8(name)) return;
      std::optional<Plain> value =
          attribute_value(attribute, where, entry.place + "@" + name, budget);
      if (!value) return;
      if (!any) {
        result.name(entry.place);
        result.open();
      }
      any = true;
      result.name(name);
      result.add(*std::move(value));
    });
    if (any) result.close(true);
  }
  result.close(true);
  return result.take();
}

void write_attributes(const Plain& metadata, const std::string& where,
                      const std::function<Id(const std::string& place)>& at) {
  if (!metadata.is(Plain::object))
    fail(Code::invalid_argument, "the metadata are not a JSON object");
  for (std::size_t i = 0; i < metadata.items().size(); ++i) {
    const Plain& value = metadata.items()[i];
    const std::string name(metadata.name(i));
    const bool of_place = value.is(Plain::object) && !name.empty() && name[0] == '/';
    const Id object = at(of_place ? name : "/");
    if (!object.is_open()) continue;
    if (!of_place) {
      write_attribute(object, name, value, where);
      continue;
    }
    for (std::size_t k = 0; k < value.items().size(); ++k)
      write_attribute(object, std::string(value.name(k)), value.items()[k], where);
  }
}

}  // namespace td::hdf5
