#include "core/distributed/c10d_message.h"

#include "core/consolidated/packing.h"
#include "core/pickle/pickle_write.h"
#include "core/pickle/pickled.h"
#include "core/tensor/buffer.h"

#include <algorithm>

namespace td::distributed {

namespace {

const std::string& where() {
  static const std::string* const text =
      new std::string("the received metadata");  // never destroyed
  return *text;
}

// The buffer of a dictionary that is consolidated in this form; else undefined.
at::Tensor row_of(const packing::Plan& plan) {
  const void* buffer = nullptr;
  const char* base = nullptr;
  for (const packing::Place& place : plan.places()) {
    const void* const holder = Buffer::of(place.tensor);
    if (holder == nullptr || (buffer != nullptr && holder != buffer)) return {};
    buffer = holder;
    if (place.bytes == 0) continue;
    if (!place.tensor.is_contiguous() || !place.tensor.device().is_cpu()) return {};
    const char* const begin = static_cast<const char*>(place.tensor.data_ptr()) - place.start;
    if (base != nullptr && begin != base) return {};
    base = begin;
  }
  if (base == nullptr) return {};
  const c10::Storage storage = plan.places()[0].tensor.storage();
  const auto start = base - static_cast<const char*>(storage.data_ptr().get());
  if (start < 0 || start + plan.bytes() > storage.nbytes()) return {};
  return Buffer::view(storage, static_cast<std::size_t>(start),
                      {static_cast<std::int64_t>(plan.bytes())}, at::kByte);
}

at::Tensor one_row(const packing::Plan& plan, int num_threads, Rows rows) {
  at::Tensor row = rows == Rows::lent ? row_of(plan) : at::Tensor();
  if (row.defined()) return row;
  row = Buffer::row(plan.bytes());
  plan.copy_to(static_cast<char*>(row.data_ptr()), num_threads);
  return row;
}

using Members = pickled::PickleEvents::Members;

Plain size_of(std::size_t bytes) { return Plain::of_integer(static_cast<std::int64_t>(bytes)); }

std::string pickle_of(const packing::Plan& plan, const Members& more) {
  Members all{{"_total_bytes", size_of(plan.bytes())}};
  all.insert(all.end(), more.begin(), more.end());
  pickled::PickleEvents pickle(std::move(all));
  plan.write(pickle);
  return pickle.take();
}

}  // namespace

Packed pack(const TensorDict& td, Way way, int num_threads, Rows rows) {
  const packing::Plan plan(td.node(), packing::Twice::copied);
  const Members device{{"_storage_device", Plain::of_text("cpu")}};
  return {pickle_of(plan, way == Way::broadcast ? device : Members()),
          one_row(plan, num_threads, rows)};
}

std::vector<Packed> pack_all(c10::ArrayRef<TensorDict> parts, int num_threads, Rows rows) {
  std::vector<packing::Plan> plans;
  std::size_t most = 0;
  for (const TensorDict& part : parts) {
    most = std::max(most, plans.emplace_back(part.node(), packing::Twice::copied).bytes());
  }
  const Members more{{"_max_bytes", size_of(most)}, {"_storage_device", Plain::of_text("cpu")}};
  std::vector<Packed> packed;
  for (const packing::Plan& plan : plans) {
    packed.push_back({pickle_of(plan, more), one_row(plan, num_threads, rows)});
  }
  return packed;
}

std::size_t checked_size(std::int64_t size, const ReceiveOptions& limits, const char* what) {
  if (size < 0 || static_cast<std::uint64_t>(size) > limits.max_bytes) {
    fail(Code::capacity, what, " of ", size, " bytes is announced, at most ", limits.max_bytes,
         " are allowed");
  }
  return static_cast<std::size_t>(size);
}

Unpacked::Unpacked(std::string_view pickle, const ReceiveOptions& limits) : limits_(limits) {
  // A tensor takes about twenty objects; a value or a dictionary fewer.
  const std::size_t most_objects = std::size_t{64} * limits.max_entries + 1024;
  pickled::Pickle read = pickled::read(pickle, where(), most_objects);
  pickled::Object& root = read.objects[read.root];
  if (root.kind != pickled::Kind::dict) fail(Code::format, where(), " is not a dict");
  // Fields that Python adds for this call; only these sizes count.
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> most;
  std::vector<pickled::Ref> kept;
  for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const pickled::Object& key = read.objects[root.items[i]];
    const pickled::Object& value = read.objects[root.items[i + 1]];
    const bool added = key.kind == pickled::Kind::text && value.kind != pickled::Kind::dict &&
                       key.text.size() > 1 && key.text[0] == '_';
    if (added && value.kind == pickled::Kind::integer) {
      if (key.text == "_total_bytes") total = value.number;
      if (key.text == "_max_bytes") most = value.number;
    }
    if (added) continue;
    kept.push_back(root.items[i]);
    kept.push_back(root.items[i + 1]);
  }
  root.items = std::move(kept);
  if (!total) fail(Code::format, where(), " does not say how many bytes follow");
  bytes_ = checked_size(*total, limits, "a row");
  most_ = most ? checked_size(*most, limits, "a row") : bytes_;
  if (most_ < bytes_) fail(Code::format, where(), ": ", bytes_, " bytes, of at most ", most_);
  std::size_t left = read.most_text;
  value_ = pickled::plain_of(read, read.root, left, where());
}

Unpacked in_step(std::string_view pickle, const ReceiveOptions& limits) {
  try {
    return Unpacked(pickle, limits);
  } catch (const Error& error) {
    if (error.code() == Code::capacity) throw;
    fail(Code::io, error.what());
  }
}

TensorDict Unpacked::build(const c10::Storage& storage) const {
  const packing::Parsed parsed(value_, where(), bytes_, {limits_.max_depth, limits_.max_entries});
  return TensorDict(parsed.build(storage, std::nullopt));
}

}  // namespace td::distributed
