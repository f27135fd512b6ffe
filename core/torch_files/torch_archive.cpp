#include "core/torch_files/torch_archive.h"

#include "core/consolidated/packing.h"
#include "core/formats/format.h"
#include "core/tensor/dtype.h"

namespace td::pickled {

namespace {

constexpr std::size_t objects_for_each_entry = 32;
constexpr std::size_t max_expanded_bytes = std::size_t{16} << 20;

// Checks strides and offset, in elements, against the storage's size.
void check_place(const TensorPlace& place, std::size_t storage_bytes, const std::string& where) {
  const std::size_t item = c10::elementSize(place.dtype);
  const auto limit = static_cast<std::int64_t>(storage_bytes / item);
  bool fits = place.offset <= limit && checked_bytes(place.sizes, item).has_value();
  bool empty = false;
  std::int64_t last = place.offset;
  for (std::size_t i = 0; fits && i < place.sizes.size(); ++i) {
    std::int64_t step = 0;
    empty = empty || place.sizes[i] == 0;
    fits = place.sizes[i] == 0 ||
           (!__builtin_mul_overflow(place.sizes[i] - 1, place.strides[i], &step) &&
            !__builtin_add_overflow(last, step, &last));
  }
  if (fits && (empty || last < limit)) return;
  fail(Code::format, where, ": a tensor of shape ", show_sizes(place.sizes), " and strides ",
       show_sizes(place.strides), " at ", place.offset, " does not fit into a storage of ",
       storage_bytes, " bytes");
}

}  // namespace

Archive::Archive(const FileBytes& file, const FileOptions& options)
    : file_(file),
      zip_(file.data(), file.size(), file.where(), options.max_entries),
      folder_(zip_.folder_of("data.pkl")) {
  if (folder_.empty()) {
    fail(Code::format, file.where(), " is an archive, but not one of torch.save");
  }
  if (const zip_file::Entry* entry = zip_.find(folder_ + "byteorder")) {
    const std::string order = zip_.text(*entry, 16);
    if (order != "little" && order != "big") {
      fail(Code::format, file.where(), ": no byte order is called ", quote(order));
    }
    swapped_ = order == "big";
  }
  const std::string text = zip_.text(*zip_.find(folder_ + "data.pkl"), packing::max_text_bytes);
  pickle_ = read(text, file.where() + ": data.pkl",
                 std::size_t{options.max_entries} * objects_for_each_entry);
}

const at::Tensor& Archive::tensor(std::int64_t number) {
  at::Tensor& made = tensors_[number];
  if (made.defined()) return made;
  const TensorPlace& place = pickle_.tensors[static_cast<std::size_t>(number)];
  const Object& object = pickle_.objects[place.storage];
  const c10::Storage& storage = storage_of(object, place.dtype);
  check_place(place, storage.nbytes(), file_.where());
  count_expanded(place, storage.nbytes());
  made =
      over_storage(storage, static_cast<std::size_t>(place.offset) * c10::elementSize(place.dtype),
                   place.sizes, place.strides, place.dtype);
  return made;
}

// Strides of 0 cost no memory here, but would in a copy.
void Archive::count_expanded(const TensorPlace& place, std::size_t storage_bytes) {
  const auto bytes =
      static_cast<std::size_t>(*checked_bytes(place.sizes, c10::elementSize(place.dtype)));
  const std::size_t limit = max_expanded_bytes + file_.size();
  if (bytes > storage_bytes) expanded_bytes_ += std::min(bytes, limit + 1);
  if (expanded_bytes_ > limit) {
    fail(Code::unsupported, file_.where(), ": tensors are expanded to more than ", limit, " bytes");
  }
}

// One storage for all tensors that name it.
const c10::Storage& Archive::storage_of(const Object& object, c10::ScalarType dtype) {
  const std::string name = folder_ + "data/" + object.text;
  const auto found = storages_.find(name);
  if (found != storages_.end()) {
    if (swapped_ && found->second.dtype != dtype) {
      fail(Code::unsupported, file_.where(), ": ", quote(name),
           " has two dtypes, and its byte order is reversed");
    }
    check_length(object, name, found->second.storage.nbytes());
    return found->second.storage;
  }
  const zip_file::Entry* entry = zip_.find(name);
  if (entry == nullptr) {
    fail(Code::format, file_.where(), ": the storage ", quote(name), " is missing");
  }
  const auto bytes = static_cast<std::size_t>(entry->bytes);
  check_length(object, name, bytes);
  // Align for any dtype.
  const bool in_place =
      entry->method == zip_file::method_stored && !swapped_ &&
      (bytes == 0 || reinterpret_cast<std::uintptr_t>(file_.data() + entry->offset) % 16 == 0);
  c10::Storage storage;
  if (in_place) {
    storage = file_.part(static_cast<std::size_t>(entry->offset), bytes, {}).storage();
  } else {
    file_.require_copies(quote(name));
    const at::Tensor memory = at::empty({static_cast<std::int64_t>(bytes)}, at::kByte);
    char* data = bytes == 0 ? nullptr : static_cast<char*>(memory.data_ptr());
    zip_.read(*entry, data);
    if (swapped_) swap_bytes(data, bytes, dtype);
    storage = memory.storage();
  }
  return storages_.emplace(name, Held{std::move(storage), dtype}).first->second.storage;
}

void Archive::check_length(const Object& object, const std::string& name, std::size_t bytes) const {
  std::int64_t need = 0;
  if (__builtin_mul_overflow(object.number,
                             static_cast<std::int64_t>(c10::elementSize(object.dtype)), &need) ||
      static_cast<std::size_t>(need) > bytes) {
    fail(Code::format, file_.where(), ": the storage ", quote(name), " of ", object.number, " ",
         dtype_name(object.dtype), " has ", bytes, " bytes");
  }
}

}  // namespace td::pickled
