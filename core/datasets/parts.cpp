// Reads rows of tables into one dictionary.
#include "core/datasets/group_source.h"
#include "core/formats/json_text.h"
#include "core/pictures/decode.h"
#include "core/tensor/dtype.h"
#include "core/tree/bytes_value.h"
#include "core/tree/non_tensor.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <set>

namespace td::datasets {

namespace {

constexpr std::string_view next_name = "next";

std::vector<std::string_view> view_of(const OwnedKey& key) { return {key.begin(), key.end()}; }

std::string shown(const OwnedKey& key) { return show_path(view_of(key)); }

// An entry of the result while its pieces are read.
struct Gathered {
  OwnedKey key;
  std::vector<at::Tensor> tensors;
  std::vector<Plain> values;
};

// What a row of a column is like: each table must say the same.
struct RowForm {
  bool is_tensor = false;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  Sizes sizes;

  explicit RowForm(const Column& column) {
    is_tensor = column.form != Form::file && column.leaf.holds == hdf5::Leaf::tensor;
    if (!is_tensor) return;
    dtype = column.form == Form::flag ? at::kBool : column.leaf.dtype;
    sizes.append(column.leaf.sizes.begin() + 1, column.leaf.sizes.end());
    if (column.form != Form::as_stored && sizes.empty()) sizes.push_back(1);
  }
  bool operator==(const RowForm& other) const {
    return is_tensor == other.is_tensor && dtype == other.dtype && sizes == other.sizes;
  }
  std::string show() const {
    return is_tensor ? dtype_name(dtype) + std::string(" ") + show_sizes(sizes) : "no tensor";
  }
};

class Gatherer {
 public:
  explicit Gatherer(const GroupSource& source) : source_(source) {}

  void add(const Part& part) {
    if (!begun_ || part.table != table_) {
      std::vector<Column> columns = source_.columns(part.table);
      std::sort(columns.begin(), columns.end(),
                [](const Column& one, const Column& other) { return one.key < other.key; });
      begun_ ? require_same(columns, part) : begin(columns);
      columns_ = std::move(columns);
      table_ = part.table;
      begun_ = true;
    }
    if (columns_.empty() && part.count > 0) {
      fail(Code::format, source_.file().where(), ": episode ", part.episode, " should have ",
           part.count, " steps, and no dataset has that number of rows");
    }
    std::size_t at = 0;
    for (const Column& column : columns_) {
      Gathered& here = gathered_[at++];
      read(column, part, here, column.next.empty() ? nullptr : &gathered_[at++]);
    }
    episodes_.push_back(at::full({part.count}, part.episode, at::kLong));
    rows_ += part.count;
  }

  TensorDict take(const std::vector<Part>& parts) {
    TensorDict result(Sizes{rows_});
    for (Gathered& one : gathered_) {
      const std::vector<std::string_view> path = view_of(one.key);
      if (!one.tensors.empty()) {
        result.set(path, at::cat(one.tensors));
        one.tensors.clear();
      } else if (rows_ != 0) {
        set_values(result, path, Plain::of_list(std::move(one.values)));
      } else {
        result.set_non_tensor(path, Plain::of_text(""));
      }
    }
    put_ends(result, parts);
    result.set({"episode"}, episodes_.empty() ? at::empty({0}, at::kLong) : at::cat(episodes_));
    return result;
  }

 private:
  void begin(const std::vector<Column>& columns) {
    std::set<OwnedKey> keys{{"episode"}};
    const auto add = [&](const OwnedKey& key) {
      for (std::size_t n = 1; n < key.size(); ++n) {
        if (keys.count(OwnedKey(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(n))) != 0)
          fail_twice(key);
      }
      const auto after = keys.lower_bound(key);
      if (after != keys.end() && after->size() >= key.size() &&
          std::equal(key.begin(), key.end(), after->begin()))
        fail_twice(key);
      keys.insert(key);
      gathered_.push_back({key, {}, {}});
    };
    for (const Column& column : columns) {
      add(column.key);
      if (!column.next.empty()) add(column.next);
    }
  }

  [[noreturn]] void fail_twice(const OwnedKey& key) const {
    fail(Code::key_exists, source_.file().where(), ": two of its datasets would be the entry ",
         shown(key));
  }

  void require_same(const std::vector<Column>& columns, const Part& part) const {
    const auto where = [&](const Column& column) {
      return text_of(source_.file().where(), ": ", quote(column.leaf.place), " of episode ",
                     part.episode);
    };
    for (std::size_t i = 0; i < columns.size() || i < columns_.size(); ++i) {
      const bool more =
          i >= columns_.size() || (i < columns.size() && columns[i].key < columns_[i].key);
      if (more) fail(Code::format, where(columns[i]), " is not in the episodes before");
      if (i >= columns.size() || columns[i].key != columns_[i].key) {
        fail(Code::format, source_.file().where(), ": episode ", part.episode, " has no ",
             shown(columns_[i].key), ", which the episodes before have");
      }
      const RowForm form(columns[i]), before(columns_[i]);
      if (!(form == before)) {
        fail(Code::format, where(columns[i]), " has rows of ", form.show(),
             ", the episodes before ", before.show());
      }
      if (columns[i].next != columns_[i].next) {
        fail(Code::format, where(columns[i]), " has ", columns[i].leaf.rows(),
             " rows; in the episodes before their number was another one by the steps");
      }
    }
  }

  void read(const Column& column, const Part& part, Gathered& here, Gathered* next) const {
    const RowForm form(column);
    const std::int64_t more = next == nullptr ? 0 : 1;
    if (column.form == Form::file && source_.decode)
      return decode(column, part, here, next, part.count + more);
    if (part.count == 0) {
      Sizes sizes{0};
      sizes.append(form.sizes.begin(), form.sizes.end());
      for (Gathered* one : {&here, next}) {
        if (one != nullptr && form.is_tensor) one->tensors.push_back(at::empty(sizes, form.dtype));
      }
      return;
    }
    hdf5::LeafValues read = source_.file().read(column.leaf, part.from, part.count + more);
    if (form.is_tensor) {
      at::Tensor values = std::move(read.tensor);
      if (column.form == Form::flag) values = values.to(at::kBool);
      if (column.form != Form::as_stored && values.dim() == 1) values = values.unsqueeze(1);
      if (next == nullptr) return here.tensors.push_back(values);
      // Each has memory of its own: a write into one does not change the other.
      here.tensors.push_back(values.narrow(0, 0, part.count).clone());
      next->tensors.push_back(values.narrow(0, 1, part.count).clone());
      return;
    }
    const std::vector<Plain> values = items(column, read);
    here.values.insert(here.values.end(), values.begin(), values.end() - more);
    if (next != nullptr) next->values.insert(next->values.end(), values.begin() + 1, values.end());
  }

  // Without steps, the first picture tells what they are like.
  void decode(const Column& column, const Part& part, Gathered& here, Gathered* next,
              std::int64_t rows) const {
    rows = std::min(part.count == 0 ? 1 : rows, column.leaf.rows());
    if (rows == 0) return;
    const std::int64_t from = part.count == 0 ? 0 : part.from;
    const std::vector<Plain> values = items(column, source_.file().read(column.leaf, from, rows));
    std::vector<std::string> files;
    for (const Plain& value : values) files.push_back(bytes_of(value).value_or(""));
    const auto where = [&](std::size_t row) {
      return text_of(source_.file().where(), ": ", quote(column.leaf.place), ", row ",
                     from + static_cast<std::int64_t>(row));
    };
    const at::Tensor pictures = decode_pictures(
        files.size(), [&](std::size_t row) { return std::string_view(files[row]); }, where,
        source_.max_bytes);
    if (!here.tensors.empty()) {
      const at::Tensor& before = here.tensors[0];
      if (before.sizes().slice(1) != pictures.sizes().slice(1) ||
          before.scalar_type() != pictures.scalar_type()) {
        fail(Code::format, where(0), ": the picture is ", show_sizes(pictures.sizes().slice(1)),
             ", those of the episodes before are ", show_sizes(before.sizes().slice(1)));
      }
    }
    here.tensors.push_back(pictures.narrow(0, 0, part.count));
    if (next != nullptr)
      next->tensors.push_back(pictures.narrow(0, rows - part.count, part.count).clone());
  }

  static std::vector<Plain> items(const Column& column, const hdf5::LeafValues& read) {
    if (column.leaf.holds != hdf5::Leaf::tensor)
      return {read.plain.items().begin(), read.plain.items().end()};
    std::vector<Plain> files;  // all of one length
    const auto bytes = static_cast<std::size_t>(read.tensor.size(1));
    const char* data = static_cast<const char*>(read.tensor.data_ptr());
    for (std::int64_t row = 0; row < read.tensor.size(0); ++row, data += bytes)
      files.push_back(plain_of_bytes({data, bytes}));
    return files;
  }

  void put_ends(TensorDict& td, const std::vector<Part>& parts) const {
    const auto stored = [&](std::string_view name) { return td.stored({next_name, name}); };
    const at::Tensor* terminated = stored("terminated");
    if (terminated == nullptr || stored("done") != nullptr) return;
    if (const at::Tensor cut = source_.cut(parts, *terminated); cut.defined())
      td.set({next_name, "truncated"}, cut);
    const at::Tensor* truncated = stored("truncated");
    terminated = stored("terminated");
    td.set({next_name, "done"},
           truncated == nullptr ? terminated->clone() : terminated->logical_or(*truncated));
  }

  const GroupSource& source_;
  std::vector<Column> columns_;
  std::size_t table_ = 0;
  bool begun_ = false;
  std::vector<Gathered> gathered_;
  std::vector<at::Tensor> episodes_;
  std::int64_t rows_ = 0;
};

}  // namespace

TensorDict GroupSource::read(const std::vector<Steps>& steps) const {
  std::vector<Part> parts;
  for (const Steps& one : steps) add_parts(one, parts);
  Gatherer gatherer(*this);
  for (const Part& part : parts) gatherer.add(part);
  return gatherer.take(parts);
}

void put_others(TensorDict& td, const hdf5::GroupFile& file, const std::string& name,
                const MendFn& mended) {
  try {
    for (const hdf5::Leaf& leaf : file.leaves("/" + name)) {
      OwnedKey key{name};
      key.insert(key.end(), leaf.path.begin(), leaf.path.end());
      put_leaf(td, key, file, leaf);
    }
  } catch (const Error& failure) {
    if (!mended || failure.code() == Code::out_of_memory) throw;
    mended.lost("", text_of(quote("/" + name), " cannot be read"));
  }
}

std::unique_ptr<hdf5::GroupFile> open_groups(const std::string& path, const DatasetOptions& options,
                                             const std::string& file) {
  hdf5::GroupFile::MendedFn told;
  if (options.mended) {
    told = [&](const std::string& text, bool lost) {
      lost ? options.mended.lost(file, text) : options.mended(file, text);
    };
  }
  return hdf5::GroupFile::open(path, options.max_bytes, options.max_entries, told);
}

void put_leaf(TensorDict& td, const OwnedKey& key, const hdf5::GroupFile& file,
              const hdf5::Leaf& leaf) {
  hdf5::LeafValues read = file.read(leaf);
  if (leaf.holds == hdf5::Leaf::tensor) {
    td.set(view_of(key), std::move(read.tensor));
  } else {
    td.set_non_tensor(view_of(key), std::move(read.plain));
  }
}

std::vector<hdf5::Leaf> leaves_of(const hdf5::GroupFile& file, const std::string& table) {
  std::vector<hdf5::Leaf> leaves = file.leaves(table);
  for (const hdf5::Leaf& leaf : leaves) {
    if (leaf.path.empty())
      fail(Code::format, file.where(), ": ", quote(table), " is a dataset, not a group of them");
  }
  return leaves;
}

std::int64_t count_attribute(const hdf5::GroupFile& file, const std::string& group,
                             const char* name) {
  const std::optional<Plain> found = file.attribute(group, name);
  if (!found) return -1;
  if (!found->is(Plain::integer) || found->integral() < 0) {
    fail(Code::format, file.where(), ": ", quote(group + "@" + name), " is ", json_text(*found),
         ", which is no number of steps");
  }
  return found->integral();
}

std::vector<std::int64_t> GroupSource::lengths_of(const std::string& top,
                                                  const std::vector<std::string>& names,
                                                  const char* attribute) const {
  using hdf5::GroupFile;
  std::vector<std::int64_t> lengths(names.size(), GroupFile::unknown_count);
  if (!mended) lengths = file_->counts(top, names, attribute);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == GroupFile::no_group) {
      fail(Code::format, file_->where(), ": ", quote(names[i]), " in ", quote(top),
           " is no group of an episode");
    }
    if (lengths[i] == GroupFile::unknown_count) lengths[i] = length(static_cast<std::int64_t>(i));
  }
  return lengths;
}

void StepsFound::add(const hdf5::Leaf& leaf, std::int64_t more) {
  const std::int64_t steps = std::max<std::int64_t>(leaf.rows() - more, 0);
  if (leaf.rows() < 0) return;
  if (least_ < 0 || steps < least_) shortest_ = leaf.place;
  least_ = least_ < 0 ? steps : std::min(least_, steps);
  most_ = std::max(most_, steps);
}

void StepsFound::require(const hdf5::GroupFile& file, const std::string& group,
                         const char* attribute, const MendFn& mended) const {
  if (least_ <= 0)
    fail(Code::format, file.where(), ": ", quote(least_ < 0 ? group : shortest_), " has no rows");
  const std::optional<Plain> told = file.attribute(group, attribute);
  if (least_ != most_) {
    mended("", text_of(quote(shortest_), " has rows for ", least_, " steps, and others for ", most_,
                       ": the episode ends there"));
  } else if (told && *told != Plain::of_integer(least_)) {
    mended("", text_of(quote(group), " has ", least_, " steps, whatever its attribute says"));
  }
}

void fail_rows(const hdf5::GroupFile& file, const hdf5::Leaf& leaf, std::int64_t wanted) {
  fail(Code::format, file.where(), ": ", quote(leaf.place), " has the sizes ",
       show_sizes(leaf.sizes), "; it should have ", wanted, " rows");
}

}  // namespace td::datasets
