#include "core/hdf5/group_file.h"

#include "core/formats/json_text.h"
#include "core/hdf5/attributes.h"
#include "core/hdf5/links.h"
#include "core/hdf5/mend_file.h"
#include "core/hdf5/open_file.h"
#include "core/hdf5/tree.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>
#include <sys/stat.h>

#include <algorithm>

namespace td::hdf5 {

namespace {

class OpenGroups final : public GroupFile {
 public:
  OpenGroups(const std::string& path, std::uint64_t max_bytes, std::uint32_t max_entries,
             const MendedFn& mended) {
    if (max_entries != 0) options_.max_entries = max_entries;
    options_.bits = true;
    if (path.empty()) fail(Code::io, "no such file: the path is empty");
    const std::string name = files::absolute(path);
    where_ = quote(name);
    const FileBytes bytes = FileBytes::open(name, false);  // refuses links and special files
    file_bytes_ = bytes.size();
    most_ = max_bytes != 0 ? max_bytes : default_limit(file_bytes_);
    struct stat looked {};
    if (::lstat(name.c_str(), &looked) != 0) files::fail_io("cannot open", name, errno);
    mends_ = static_cast<bool>(mended);
    if (mended) mend(bytes, name, mended);
    const std::string& opened = copy_ ? copy_->copy->path() : name;
    if (copy_ && ::lstat(opened.c_str(), &looked) != 0) files::fail_io("cannot open", name, errno);
    const Session session;
    file_ = open_path(opened, looked, where_);
  }

  ~OpenGroups() override {
    const Session session;
    file_.reset();
  }

  const std::string& where() const noexcept override { return where_; }

  std::vector<std::string> names(const std::string& group) const override {
    const Session session;
    look_at(file_, group, where_);
    std::vector<std::string> names;
    for (Link& link : links_of(file_, group, where_, options_))
      names.push_back(std::move(link.name));
    std::sort(names.begin(), names.end(), counts_before);
    return names;
  }

  bool is_group(const std::string& place) const override {
    const Session session;
    return type_at(place) == H5O_TYPE_GROUP;
  }

  std::vector<Leaf> leaves(const std::string& group) const override {
    const Session session;
    Budget budget = this->budget();
    Options options = options_;
    std::string top = group;
    const H5O_type_t type = type_at(group);
    const bool alone = type == H5O_TYPE_DATASET;
    if (!alone && type != H5O_TYPE_GROUP && type != H5O_TYPE_UNKNOWN)
      fail(Code::format, where_, ": ", quote(group), " is neither a group nor a dataset");
    if (alone) {
      const std::size_t slash = group.rfind('/');
      options.keys = {{group.substr(slash + 1)}};
      top = slash == 0 ? "/" : group.substr(0, slash);
    }
    std::size_t entries = 0;
    const Tree tree = scan(file_, top, where_, options, entries, budget);
    std::vector<Leaf> leaves;
    for (const Entry& entry : tree) {
      if (entry.is_dict() || entry.is_attribute()) continue;
      Leaf leaf;
      for (std::size_t at = alone ? entry.parent : &entry - tree.data(); at != 0;
           at = tree[at].parent)
        leaf.path.push_back(tree[at].name);
      std::reverse(leaf.path.begin(), leaf.path.end());
      leaf.place = entry.place;
      leaf.fields = entry.fields;
      const bool numbers = entry.holds == Holds::tensor || entry.marked;
      leaf.holds = numbers ? Leaf::tensor : entry.holds == Holds::bytes ? Leaf::bytes : Leaf::text;
      if (numbers) leaf.dtype = entry.dtype;
      leaf.sizes = entry.sizes;
      if (copy_ && !cut_to_what_is_there(leaf)) continue;
      leaves.push_back(std::move(leaf));
    }
    return leaves;
  }

  Plain attributes(const std::string& place) const override {
    const Session session;
    Budget budget = this->budget();
    PlainBuilder result;
    result.open();
    if (type_at(place) != H5O_TYPE_UNKNOWN) {
      const Id object = open_object(place);
      each_attribute(object, where_, options_, [&](const std::string& name, hid_t attribute) {
        if (!is_utf8(name)) return;
        std::optional<Plain> value = attribute_value(attribute, where_, place + "@" + name, budget);
        if (!value) return;
        result.name(name);
        result.add(*std::move(value));
      });
    }
    result.close(true);
    return result.take();
  }

  std::optional<Plain> attribute(const std::string& place, const char* name) const override {
    const Session session;
    if (type_at(place) == H5O_TYPE_UNKNOWN) return std::nullopt;
    const Id object = open_object(place);
    if (H5Aexists(object, name) <= 0) return std::nullopt;
    Budget budget = this->budget();
    const Id attribute =
        need(H5Aopen(object, name, H5P_DEFAULT), Code::format, where_, "cannot open an attribute");
    return attribute_value(attribute, where_, place + "@" + name, budget);
  }

  std::vector<std::int64_t> counts(const std::string& group, const std::vector<std::string>& names,
                                   const char* attribute) const override {
    const Session session;
    const Id top = open_object(group), way = inside_file(H5P_LINK_ACCESS, where_);
    std::vector<std::int64_t> counts;
    counts.reserve(names.size());
    for (const std::string& name : names) counts.push_back(count_in(top, name, attribute, way));
    return counts;
  }

  LeafValues read(const Leaf& leaf, std::int64_t start, std::int64_t count) const override {
    return read(leaf, true, start, count);
  }
  LeafValues read(const Leaf& leaf) const override { return read(leaf, false, 0, 0); }

 private:
  void mend(const FileBytes& bytes, const std::string& name, const MendedFn& mended) {
    // An older library frees what it could not read of an attribute among zeros, and ends the process.
    constexpr bool reads_zeros = H5_VERSION_GE(1, 14, 0);
    copy_ = mend_file(bytes, name, reads_zeros);
    if (!copy_) return;
    if (copy_->was_open)
      mended("its head says that it is open for writing, and that program has ended", false);
    if (copy_->missing > 0)
      mended(text_of("the last ", copy_->missing, " bytes of the file are missing"), true);
  }

  // Zeros behind the end of the file that was cut are no values. Whether anything is left.
  bool cut_to_what_is_there(Leaf& leaf) const {
    const std::int64_t rows = std::max<std::int64_t>(leaf.rows(), 1);
    const std::int64_t whole = whole_rows(leaf, rows);
    if (leaf.rows() < 0) return whole == rows;
    leaf.cut = whole < leaf.rows();
    leaf.sizes[0] = std::min(leaf.rows(), whole);
    return true;
  }

  std::int64_t whole_rows(const Leaf& leaf, std::int64_t rows) const {
    const Id dataset = open_dataset(file_, leaf.place, where_);
    const Id made(H5Dget_create_plist(dataset)), space(H5Dget_space(dataset)),
        type(H5Dget_type(dataset));
    if (!made.is_open() || !space.is_open() || !type.is_open()) return 0;
    const H5D_layout_t layout = H5Pget_layout(made);
    if (layout == H5D_COMPACT) return rows;
    if (layout == H5D_CHUNKED) return rows_of_chunks(dataset, space, rows);
    const haddr_t from = H5Dget_offset(dataset);
    if (from == HADDR_UNDEF) return rows;
    const hssize_t elements = H5Sget_simple_extent_npoints(space);
    const std::uint64_t row = static_cast<std::uint64_t>(std::max<hssize_t>(elements, 0)) /
                              static_cast<std::uint64_t>(rows) * H5Tget_size(type);
    if (row == 0) return rows;
    return from >= copy_->there
               ? 0
               : static_cast<std::int64_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(rows),
                                                                   (copy_->there - from) / row));
  }

  std::int64_t rows_of_chunks(hid_t dataset, hid_t space, std::int64_t rows) const {
#if H5_VERSION_GE(1, 10, 7)
    hsize_t count = 0, at[H5S_MAX_RANK] = {}, size = 0;
    if (H5Dget_num_chunks(dataset, space, &count) < 0) return 0;
    for (hsize_t i = 0; i < count; ++i) {
      unsigned filters = 0;
      haddr_t from = HADDR_UNDEF;
      if (H5Dget_chunk_info(dataset, space, i, at, &filters, &from, &size) < 0) return 0;
      if (from != HADDR_UNDEF && (from > copy_->there || size > copy_->there - from))
        rows = std::min(rows, static_cast<std::int64_t>(at[0]));
    }
    return rows;
#else
    (void)dataset, (void)space, (void)rows;
    return 0;
#endif
  }

  Budget budget() const { return {most_, file_bytes_, where_}; }

  H5O_type_t type_at(const std::string& place) const {
    H5O_info_t info{};
    const Id way = inside_file(H5P_LINK_ACCESS, where_);
    return H5Oget_info_by_name(file_, place.c_str(), &info, way) < 0 ? H5O_TYPE_UNKNOWN : info.type;
  }

  static std::int64_t count_in(hid_t top, const std::string& name, const char* attribute,
                               hid_t way) {
    const Id group(H5Oopen(top, name.c_str(), way));
    if (!group.is_open() || H5Iget_type(group) != H5I_GROUP) return no_group;
    const Id found(H5Aopen(group, attribute, H5P_DEFAULT));
    if (!found.is_open()) return unknown_count;
    const Id space(H5Aget_space(found)), type(H5Aget_type(found));
    const bool is_one = space.is_open() && H5Sget_simple_extent_type(space) == H5S_SCALAR &&
                        type.is_open() && H5Tget_class(type) == H5T_INTEGER;
    std::int64_t count = unknown_count;
    if (!is_one || H5Aread(found, H5T_NATIVE_INT64, &count) < 0) return unknown_count;
    return count == INT64_MAX || count < 0 ? unknown_count : count;  // the largest may be more
  }

  Id open_object(const std::string& place) const {
    return need(H5Oopen(file_, place.c_str(), inside_file(H5P_LINK_ACCESS, where_)), Code::format,
                where_, "cannot open a group or dataset");
  }

  LeafValues read(const Leaf& leaf, bool some, std::int64_t start, std::int64_t count) const {
    const Session session;
    Budget budget = this->budget();
    const Id dataset = open_dataset(file_, leaf.place, where_);
    const Id type = need(H5Dget_type(dataset), Code::format, where_, "bad dataset");
    TypePlan plan = plan_field(type, leaf.fields, where_);
    if (leaf.fields.empty()) plan = plan_bits(type, std::move(plan), where_);
    const Id space = need(H5Dget_space(dataset), Code::format, where_, "bad dataset");
    require_same(leaf, plan, space);
    Sizes sizes = leaf.sizes;
    Source source{dataset};
    Id memory_space;
    if (some) {
      if (leaf.rows() < 0 || start < 0 || count < 0 || start > leaf.rows() - count)
        fail(Code::internal, "rows of ", quote(leaf.place), " that it has not");
      sizes[0] = count;
      memory_space = select_rows(space, start, 1, count, where_);
      source.memory_space = memory_space;
      source.file_space = space;
    }
    LeafValues result;
    if (leaf.holds != Leaf::tensor) {
      result.plain = read_plain(source, plan, sizes, where_, quote(leaf.place), budget);
      return result;
    }
    const auto inner = static_cast<std::size_t>(count_elements(plan.inner));
    budget.take(sizes, plan.item / std::max<std::size_t>(1, inner), quote(leaf.place));
    result.tensor = at::empty(sizes, plan.dtype);
    if (result.tensor.numel() != 0) read_raw(source, plan.memory, result.tensor.data_ptr(), where_);
    if (plan.dtype == at::kBool && result.tensor.numel() != 0) make_bools_valid(result.tensor);
    return result;
  }

  void require_same(const Leaf& leaf, const TypePlan& plan, hid_t space) const {
    hsize_t now[H5S_MAX_RANK] = {};
    const int dims = H5Sget_simple_extent_dims(space, now, nullptr);
    const bool numbers = plan.holds == Holds::tensor;
    bool same = dims >= 0 && numbers == (leaf.holds == Leaf::tensor) &&
                (!numbers || plan.dtype == leaf.dtype) &&
                leaf.sizes.size() == static_cast<std::size_t>(dims) + plan.inner.size();
    for (int i = mends_ ? 1 : 0; same && i < dims; ++i)  // rows may be fewer then
      same = now[i] == static_cast<hsize_t>(leaf.sizes[static_cast<std::size_t>(i)]);
    if (!same)
      fail(Code::busy, where_, ": ", quote(leaf.place), " has changed since the file was opened");
  }

  Options options_;
  std::string where_;
  std::uint64_t file_bytes_ = 0, most_ = 0;
  bool mends_ = false;
  std::optional<MendedFile> copy_;  // that is read in place of the file
  Id file_;
};

}  // namespace

std::unique_ptr<GroupFile> GroupFile::open(const std::string& path, std::uint64_t max_bytes,
                                           std::uint32_t max_entries, const MendedFn& mended) {
  return std::make_unique<OpenGroups>(path, max_bytes, max_entries, mended);
}

}  // namespace td::hdf5
