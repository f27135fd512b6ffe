#include "core/datasets/verify_space.h"

#include "core/base/key.h"
#include "core/base/quote.h"
#include "core/datasets/space.h"
#include "core/tensor/dtype.h"
#include "core/tree/bytes_value.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

constexpr const char* known_types[] = {"Box",  "Discrete", "MultiDiscrete", "MultiBinary",
                                       "Text", "Dict",     "Tuple"};

std::string_view type_of(const Plain& space) {
  const Plain* type = space.find("type", Plain::text);
  return type == nullptr ? std::string_view() : type->characters();
}

void add_numbers(const Plain& value, std::vector<double>& to) {
  if (value.is_number()) to.push_back(value.number());
  if (value.is(Plain::boolean)) to.push_back(value.truth() ? 1 : 0);
  for (const Plain& one : value.is(Plain::list) ? value.items() : Span<Plain>())
    add_numbers(one, to);
}

// The numbers in nested lists, as a row of values has them; undefined if there are not as many.
at::Tensor bounds_of(const Plain& space, const char* name, SizesView sizes) {
  std::vector<double> numbers;
  if (const Plain* found = space.find(name)) add_numbers(*found, numbers);
  std::int64_t wanted = 1;
  for (const std::int64_t size : sizes) wanted *= size;
  if (static_cast<std::int64_t>(numbers.size()) != wanted) return {};
  return at::tensor(numbers, at::kDouble).reshape(sizes);
}

// What the values of a dtype are read as: libtorch may lack the wider unsigned ones.
bool is_read_as(std::string_view stored, std::string_view held) {
  return stored == held || (stored == "uint16" && held == "int32") ||
         ((stored == "uint32" || stored == "uint64") && held == "int64");
}

class Look {
 public:
  Look(Problems& problems, Spot at, const TensorDict& rows, std::int64_t first)
      : problems_(problems), at_(std::move(at)), rows_(rows), first_(first) {}

  void at_key(const OwnedKey& key, const Plain& space) {
    const std::string_view type = type_of(space);
    const EntryKind kind = rows_.kind_of(views_of(key));
    shown_ = show_path(views_of(key));
    if (kind == EntryKind::none) {
      problems_.add(at_, shown_, " is missing, and its space tells of it");
    } else if (type == "Dict" || type == "Tuple") {
      kind == EntryKind::dict
          ? members(key, space)
          : problems_.add(at_, shown_, " is no group of values, and its space is a ", type);
    } else if (kind == EntryKind::dict) {
      problems_.add(at_, shown_, " is a group of values, and its space is ", type);
    } else if (type == "Text") {
      texts(key, space);
    } else if (kind == EntryKind::tensor) {
      numbers(rows_.get(views_of(key)), space);
    } else if (type == "Box") {
      pictures(key);
    } else {
      problems_.add(at_, shown_, " holds no numbers, and its space is ", type);
    }
  }

 private:
  void members(const OwnedKey& key, const Plain& space) {
    const Plain* parts = space.find("subspaces");
    if (parts == nullptr) return;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < parts->items().size(); ++i)
      names.push_back(parts->is(Plain::object) ? std::string(parts->name(i)) : std::to_string(i));
    const TensorDict found = rows_.get_dict(views_of(key));
    for (const std::string& name : found.node()->entry_names()) {
      if (std::find(names.begin(), names.end(), name) == names.end())
        problems_.add(at_, shown_, " has ", quote(name), ", which its space lacks");
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      OwnedKey below = key;
      below.push_back(names[i]);
      at_key(below, parts->items()[i]);
    }
  }

  void numbers(const at::Tensor& values, const Plain& space) {
    const std::string_view type = type_of(space);
    const std::optional<Sizes> shape = Space(&space).shape();
    const SizesView found = values.sizes().slice(1);
    if (shape && SizesView(*shape) != found) {
      problems_.add(at_, shown_, " has values of the shape ", show_sizes(found),
                    ", and its space of ", show_sizes(*shape));
      return;
    }
    const Plain* dtype = space.find("dtype", Plain::text);
    const std::string held = dtype_name(values.scalar_type()).substr(6);
    if (type == "Box" && dtype != nullptr && !is_read_as(dtype->characters(), held))
      problems_.add(at_, shown_, " is ", held, ", and its space ", dtype->characters());
    const at::Tensor all = values.to(at::kDouble);
    if (type == "Box") {
      // Bounds are numbers of the dtype, printed.
      const auto bound = [&](const char* name) {
        const at::Tensor read = bounds_of(space, name, found);
        return read.defined() && values.is_floating_point()
                   ? read.to(values.scalar_type()).to(at::kDouble)
                   : read;
      };
      range(all, bound("low"), bound("high"), "between low and high");
    } else if (type == "Discrete" || type == "MultiDiscrete") {
      const at::Tensor counts = bounds_of(space, type == "Discrete" ? "n" : "nvec", found);
      at::Tensor start = bounds_of(space, "start", found);
      if (!start.defined() && counts.defined()) start = at::zeros_like(counts);
      range(all, start, counts.defined() ? start + counts - 1 : counts, "one of the numbers");
    } else if (type == "MultiBinary") {
      range(all, at::zeros(found, at::kDouble), at::ones(found, at::kDouble), "0 or 1");
    }
  }

  void range(const at::Tensor& values, const at::Tensor& low, const at::Tensor& high,
             const char* what) {
    if (!low.defined() || !high.defined() || values.numel() == 0) return;
    const at::Tensor inside = values.ge(low).logical_and(values.le(high));
    const at::Tensor outside = inside.logical_not().reshape({values.size(0), -1});
    if (!outside.any().item<bool>()) return;
    const at::Tensor place = outside.nonzero()[0];
    const double value =
        values
            .reshape(
                {values.size(0), -1})[place[0].item<std::int64_t>()][place[1].item<std::int64_t>()]
            .item<double>();
    problems_.add_rows(at_, outside.any(1), first_, shown_, " has ", value, ", which is not ", what,
                       " of its space");
  }

  std::vector<Plain> values_at(const OwnedKey& key) const {
    const OwnedKey above(key.begin(), key.end() - 1);
    const TensorDict holder = above.empty() ? rows_ : rows_.get_dict(views_of(above));
    const std::optional<Value> entry = holder.node()->entry(key.back());
    const Plain lists = non_tensor_lists(*entry->node());
    return {lists.items().begin(), lists.items().end()};
  }

  void texts(const OwnedKey& key, const Plain& space) {
    if (rows_.kind_of(views_of(key)) != EntryKind::non_tensor) {
      problems_.add(at_, shown_, " holds no texts, and its space is Text");
      return;
    }
    const Plain* least = space.find("min_length", Plain::integer);
    const Plain* most = space.find("max_length", Plain::integer);
    const Plain* charset = space.find("charset", Plain::text);
    std::int64_t row = first_;
    for (const Plain& value : values_at(key)) {
      std::int64_t length = 0;
      const std::string_view text = value.characters();
      std::string stranger;
      for (std::size_t at = 0; at < text.size(); ++length) {
        std::size_t end = at + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
        const std::string_view letter = text.substr(at, end - at);
        if (charset != nullptr && charset->characters().find(letter) == std::string_view::npos)
          stranger = letter;
        at = end;
      }
      Spot here = at_;
      here.row = row++;
      if ((least != nullptr && length < least->integral()) ||
          (most != nullptr && length > most->integral())) {
        return problems_.add(here, shown_, " has a text of ", length,
                             " characters, which its space does not allow");
      }
      if (!stranger.empty()) {
        return problems_.add(here, shown_, " has the character ", quote(stranger),
                             ", which is not in the charset of its space");
      }
    }
  }

  void pictures(const OwnedKey& key) {
    std::int64_t row = first_;
    for (const Plain& value : values_at(key)) {
      const std::string file = bytes_of(value).value_or("");
      const bool known = file.compare(0, 2, "\xFF\xD8") == 0 || file.compare(0, 4, "\x89PNG") == 0;
      Spot here = at_;
      here.row = row++;
      if (!known) return problems_.add(here, shown_, " is neither JPEG nor PNG");
    }
  }

  Problems& problems_;
  Spot at_;
  const TensorDict& rows_;
  std::int64_t first_;
  std::string shown_;
};

}  // namespace

void check_space(Problems& problems, const Spot& at, const TensorDict& rows, const OwnedKey& key,
                 const Plain& space, std::int64_t first) {
  Look(problems, at, rows, first).at_key(key, space);
}

void check_form(Problems& problems, const std::string& file, const Plain& space,
                const std::string& name) {
  const std::string_view type = type_of(space);
  const auto known = [&](const char* one) { return type == one; };
  if (std::none_of(std::begin(known_types), std::end(known_types), known)) {
    problems.add({file}, name, " is of the type ", quote(type), ", which Minari does not store");
    return;
  }
  const Plain* parts = space.find("subspaces");
  const bool nested = type == "Dict" || type == "Tuple";
  if (nested && (parts == nullptr || !parts->is(type == "Dict" ? Plain::object : Plain::list)))
    return problems.add({file}, name, " is a ", type, " without \"subspaces\"");
  for (std::size_t i = 0; nested && i < parts->items().size(); ++i) {
    const std::string below =
        parts->is(Plain::object) ? std::string(parts->name(i)) : std::to_string(i);
    check_form(problems, file, parts->items()[i], name + "/" + below);
  }
  for (const char* bound : {"low", "high"}) {
    if (type == "Box" && space.find(bound) == nullptr)
      problems.add({file}, name, " is a Box without ", quote(bound));
  }
  const std::optional<Sizes> shape = Space(&space).shape();
  if (type == "Box" && shape && !bounds_of(space, "low", *shape).defined())
    problems.add({file}, name, " has a \"low\" that does not have its shape, ", show_sizes(*shape));
}

}  // namespace td::datasets
