// Reads HDF5 files, in whole or by rows.
#include "core/hdf5/attributes.h"
#include "core/hdf5/open_file.h"
#include "core/hdf5/tree.h"

#include "core/formats/format.h"
#include "core/tensor/assign.h"
#include "core/tensor/foreign.h"
#include "core/tensor/picked_rows.h"
#include "core/tree/lazy_node.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

namespace td::hdf5 {

namespace {

class OpenFile final : public Reader {
 public:
  OpenFile(const std::string& path, const Options& options) : options_(options) {
    options_.group = group_path(options.group);
    if (path.empty()) fail(Code::io, "no such file: the path is empty");
    const std::string name = files::absolute(path);
    where_ = "\"" + name + "\"";
    // Refuses links and special files.
    const FileBytes bytes = FileBytes::open(name, false);
    file_bytes_ = bytes.size();
    struct stat looked {};
    if (::lstat(name.c_str(), &looked) != 0) files::fail_io("cannot open", name, errno);
    open(name, nullptr, &looked);
  }

  OpenFile(const FileBytes& file, const Options& options)
      : options_(options), where_(file.where()), file_bytes_(file.size()) {
    options_.group = group_path(options.group);
    open("", &file, nullptr);
  }

  ~OpenFile() override {
    const Session session;
    file_.reset();
  }

  Sizes batch_size() const override {
    if (!options_.stack) return trees_[0][0].sizes;
    Sizes batch{static_cast<std::int64_t>(trees_.size())};
    if (trees_.empty()) return batch;
    Sizes common = trees_[0][0].sizes;
    for (const Tree& tree : trees_) {
      for (std::size_t i = 0; i < common.size(); ++i) {
        if (tree[0].sizes[i] != common[i]) common[i] = -1;
      }
    }
    batch.append(common.begin(), common.end());
    return batch;
  }

  KeyList keys() const override {
    KeyList list;
    if (trees_.empty()) return list;
    list.keys = keys_of(trees_[0]);
    for (std::size_t i = 1; i < trees_.size(); ++i) {
      std::set<std::vector<std::string>> there;
      for (KeyList::Key& key : keys_of(trees_[i])) there.insert(std::move(key.path));
      const auto gone = [&](const KeyList::Key& key) { return there.count(key.path) == 0; };
      list.keys.erase(std::remove_if(list.keys.begin(), list.keys.end(), gone), list.keys.end());
    }
    return list;
  }

  Plain attributes() const override {
    const Session session;
    Budget budget = this->budget();
    return trees_.empty() ? Plain() : attributes_of(file_, trees_[0], where_, options_, budget);
  }

  TensorDict read(c10::ArrayRef<IndexItem> items) const override {
    const Sizes batch = batch_size();
    const RowIndex index = split_rows(items, batch);
    const PickedRows& rows = index.rows;
    Budget budget = this->budget();
    TensorDict result = [&] {
      const Session session;
      if (!options_.stack) return TensorDict(read_tree(trees_[0], rows, budget));
      return TensorDict(read_stack(rows, budget));
    }();
    return index.rest.empty() ? result : result.index(index.rest);
  }

 private:
  Budget budget() const {
    const std::uint64_t most =
        options_.max_bytes != 0 ? options_.max_bytes : default_limit(file_bytes_);
    return Budget(most, file_bytes_, where_);
  }

  void open(const std::string& name, const FileBytes* image, const struct stat* looked) {
    if (options_.batch_dims < 0) {
      fail(Code::invalid_argument, "a number of batch dimensions of ", options_.batch_dims);
    }
    const Session session;
    try {
      open_inside(name, image, looked);
    } catch (...) {
      file_.reset();  // close it while the session excludes other threads
      throw;
    }
  }

  void open_inside(const std::string& name, const FileBytes* image, const struct stat* looked) {
    file_ = image != nullptr ? open_image(*image, where_) : open_path(name, *looked, where_);
    Budget budget = this->budget();
    std::size_t entries = 0;
    if (!options_.stack) {
      trees_.push_back(scan(file_, options_.group, where_, options_, entries, budget));
      find_batch_sizes(trees_[0], options_.batch_dims, where_);
      return;
    }
    std::size_t dims = max_dims;
    for (const std::string& element : groups_in(file_, options_.group, where_, options_)) {
      const std::string place = below(options_.group, element);
      trees_.push_back(scan(file_, place, where_, options_, entries, budget));
      find_batch_sizes(trees_.back(), options_.batch_dims, where_);
      dims = std::min(dims, trees_.back()[0].sizes.size());
    }
    // All elements of a stack need the same number of batch dimensions.
    for (Tree& tree : trees_) {
      if (tree[0].sizes.size() != dims) shorten(tree, dims);
    }
  }

  static void shorten(Tree& tree, std::size_t dims) {
    for (Entry& entry : tree) {
      if (entry.is_dict() && entry.sizes.size() > dims) entry.sizes.resize(dims);
    }
  }

  static std::vector<KeyList::Key> keys_of(const Tree& tree) {
    std::vector<KeyList::Key> keys;
    for (const Entry& entry : tree) {
      if (entry.is_dict()) continue;
      KeyList::Key key{{entry.name},
                       entry.holds == Holds::tensor ? EntryKind::tensor : EntryKind::non_tensor};
      for (std::size_t at = entry.parent; at != 0; at = tree[at].parent) {
        key.path.push_back(tree[at].name);
      }
      std::reverse(key.path.begin(), key.path.end());
      keys.push_back(std::move(key));
    }
    return keys;
  }

  NodePtr read_stack(const PickedRows& rows, Budget& budget) const {
    if (trees_.empty()) {
      fail(Code::wrong_entry, where_, ": ", quote(options_.group), " has no group to stack");
    }
    std::vector<std::int64_t> picked;
    if (rows.all) {
      for (std::size_t i = 0; i < trees_.size(); ++i)
        picked.push_back(static_cast<std::int64_t>(i));
    }
    for (const PickedRows::Run& run : rows.runs) {
      for (std::int64_t i = 0; i < run.count; ++i) picked.push_back(run.start + i * run.step);
    }
    std::vector<NodePtr> read;
    for (const std::int64_t i : picked) {
      read.push_back(read_tree(trees_[static_cast<std::size_t>(i)], PickedRows(), budget));
    }
    std::vector<NodePtr> elements;
    for (const std::int64_t i : rows.order) {
      elements.push_back(read[static_cast<std::size_t>(i)]->shallow_copy());
    }
    if (rows.order.empty()) elements = std::move(read);
    if (elements.empty()) {
      fail(Code::index, where_, ": a lazy stack has at least one element, and none is picked");
    }
    return lazy_stack(std::move(elements), 0);
  }

  NodePtr read_tree(const Tree& tree, const PickedRows& rows, Budget& budget) const {
    std::vector<c10::intrusive_ptr<DenseNode>> nodes(tree.size());
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const Entry& entry = tree[i];
      const SizesView above = i == 0 ? SizesView() : nodes[entry.parent]->batch();
      Value value;
      if (entry.is_dict()) {
        Sizes batch = entry.sizes;
        if (!rows.all && !batch.empty()) batch[0] = rows.count;
        nodes[i] = c10::make_intrusive<DenseNode>(batch, std::nullopt);
        value = NodePtr(nodes[i]);
      } else if (entry.is_attribute()) {
        value = NodePtr(c10::make_intrusive<NonTensorNode>(*entry.value, above, std::nullopt));
      } else {
        value = read_entry(entry, tree[entry.parent].sizes, above, rows, budget);
      }
      if (i != 0) nodes[entry.parent]->put(entry.name, std::move(value));
    }
    return nodes[0];
  }

  // `batch`: the dictionary's batch size in the file; `above`: in the result.
  Value read_entry(const Entry& entry, SizesView batch, SizesView above, const PickedRows& rows,
                   Budget& budget) const {
    const Id dataset = open_dataset(file_, entry.place, where_);
    const Id type = need(H5Dget_type(dataset), Code::format, where_, "bad dataset");
    const TypePlan plan = plan_field(type, entry.fields, where_);
    const Id space = need(H5Dget_space(dataset), Code::format, where_, "bad dataset");
    hsize_t now[H5S_MAX_RANK] = {};
    const int dims = H5Sget_simple_extent_dims(space, now, nullptr);
    Sizes sizes = entry.sizes;
    bool same = entry.is_of(plan) && dims >= 0 &&
                sizes.size() == static_cast<std::size_t>(dims) + plan.inner.size();
    for (int i = 0; same && i < dims; ++i) {
      same = now[i] == static_cast<hsize_t>(sizes[static_cast<std::size_t>(i)]);
    }
    if (!same)
      fail(Code::busy, where_, ": ", quote(entry.place), " has changed since the file was opened");
    const bool tensor = entry.holds == Holds::tensor;
    // Non-tensor values are read by rows if there is one for each row.
    const bool each = !batch.empty() && begins_with(sizes, batch);
    const bool some = !rows.all && (tensor || each) && dims > 0;
    if (some) sizes[0] = rows.read_count;
    if (!tensor) {
      Plain value =
          read_other(dataset, space, plan, sizes, some ? &rows : nullptr, budget, entry.place);
      if (each) return ordered(value, above, rows);
      if (H5Aexists(dataset, json_mark) > 0) {
        value = marked_json(value, where_ + ": " + quote(entry.place));
      }
      return NodePtr(c10::make_intrusive<NonTensorNode>(std::move(value), above, std::nullopt));
    }
    budget.take(sizes, plan.item / std::max<std::size_t>(1, inner_count(plan)), quote(entry.place));
    at::Tensor result = at::empty(sizes, plan.dtype);
    if (result.numel() != 0) {
      char* data = static_cast<char*>(result.data_ptr());
      if (some) {
        read_runs(dataset, space, plan.memory, rows, data,
                  static_cast<std::size_t>(result.nbytes()) / static_cast<std::size_t>(sizes[0]));
      } else {
        read_raw({dataset}, plan.memory, data, where_);
      }
      if (plan.dtype == at::kBool) make_bools_valid(result);
    }
    if (some && !rows.order.empty()) {
      sizes[0] = rows.count;
      budget.take(sizes, result.element_size(), quote(entry.place));
      result = result.index_select(0, at::tensor(rows.order, at::kLong));
    }
    return result;
  }

  static std::size_t inner_count(const TypePlan& plan) {
    return static_cast<std::size_t>(count_elements(plan.inner));
  }

  void read_runs(hid_t dataset, hid_t space, hid_t memory, const PickedRows& rows, char* data,
                 std::size_t row_bytes) const {
    for_runs(space, rows, [&](hid_t memory_space, std::int64_t row) {
      read_raw({dataset, false, memory_space, space}, memory,
               data + static_cast<std::size_t>(row) * row_bytes, where_);
    });
  }

  // Selects runs of rows; calls `read` with each run's start in the result.
  template <class Read>
  void for_runs(hid_t space, const PickedRows& rows, Read&& read) const {
    std::int64_t row = 0;
    for (const PickedRows::Run& run : rows.runs) {
      const Id memory = select_rows(space, run.start, run.step, run.count, where_);
      read(static_cast<hid_t>(memory), row);
      row += run.count;
    }
  }

  Plain read_other(hid_t dataset, hid_t space, const TypePlan& plan, SizesView sizes,
                   const PickedRows* rows, Budget& budget, const std::string& place) const {
    if (rows == nullptr) return read_plain({dataset}, plan, sizes, where_, quote(place), budget);
    std::vector<Plain> values;
    for_runs(space, *rows, [&](hid_t memory_space, std::int64_t) {
      Sizes part(sizes.begin(), sizes.end());
      part[0] =
          H5Sget_simple_extent_npoints(memory_space) / std::max<std::int64_t>(1, per_row(sizes));
      const Plain list = read_plain({dataset, false, memory_space, space}, plan, part, where_,
                                    quote(place), budget);
      values.insert(values.end(), list.items().begin(), list.items().end());
    });
    return Plain::of_list(std::move(values));
  }

  static std::int64_t per_row(SizesView sizes) { return count_elements(sizes.slice(1)); }

  // One value for each row, in the requested order.
  static Value ordered(const Plain& lists, SizesView above, const PickedRows& rows) {
    if (rows.order.empty()) return non_tensor_of_lists(lists, above, std::nullopt);
    Sizes read(above.begin(), above.end());
    read[0] = rows.read_count;
    auto holder = c10::make_intrusive<DenseNode>(read, std::nullopt);
    holder->put("values", non_tensor_of_lists(lists, read, std::nullopt));
    const IndexItem item = IndexItem::of(at::tensor(rows.order, at::kLong));
    return *entry_of(TensorDict(NodePtr(holder)).index(item).node(), "values");
  }

  Options options_;
  std::string where_;
  std::uint64_t file_bytes_ = 0;
  Id file_;
  std::vector<Tree> trees_;
};

}  // namespace

std::unique_ptr<Reader> Reader::open(const std::string& path, const Options& options) {
  return std::make_unique<OpenFile>(path, options);
}

std::unique_ptr<Reader> Reader::open(const FileBytes& file, const Options& options) {
  return std::make_unique<OpenFile>(file, options);
}

}  // namespace td::hdf5
