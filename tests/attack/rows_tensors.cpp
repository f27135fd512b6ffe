// Tensors by themselves, and entries as numbers, plain memory and structs.
#include "row.h"

#include <cstring>

namespace attack {

namespace {

template <class T>
void tell_number(Call &c, td_status status, T value) {
  if (status == TD_OK) std::strcpy(c.out_text(), std::to_string(value).c_str());
}

// Structs of two members, as the dtypes and sizes of two entries want them, or nearly.
struct Structs {
  std::vector<std::int64_t> sizes[2];
  td_member members[2] = {};
  std::size_t bytes = 0;

  Structs(Call &c, const td_tensordict *td) {
    for (int i = 0; i < 2; ++i) {
      auto &p = c.path(td);
      td_member &member = members[i];
      member.path = p.data();
      member.path_len = p.size();
      member.dtype = TD_DTYPE_FLOAT32;
      std::int64_t found[16];
      std::size_t dims = 0;
      const std::size_t batch = Call::batch(td).size();
      if (c.choices.chance(90) && td_get_dtype(td, p.data(), p.size(), &member.dtype) == TD_OK &&
          td_get_sizes(td, p.data(), p.size(), found, 16, &dims) == TD_OK && dims > batch) {
        sizes[i].assign(found + batch, found + dims);
      }
      std::size_t elements = 1;
      for (const std::int64_t size : sizes[i]) elements *= static_cast<std::size_t>(size);
      member.sizes = sizes[i].data();
      member.dims = sizes[i].size();
      member.offset = bytes;
      bytes += (elements * td_dtype_size(member.dtype) + 15) / 16 * 16;
    }
  }
};

std::size_t elements(const Sizes &sizes) {
  std::size_t n = 1;
  for (const std::int64_t size : sizes) n *= static_cast<std::size_t>(size < 0 ? 0 : size);
  return n;
}

using namespace drawn;

const Operation rows[] = {
    {"td_tensor_index", reads,
     [](Call &c) {
       const auto *tensor = c.tensor();
       Sizes &s = c.sizes(Sizes(8, 0));
       std::size_t dims = 0;
       (void)td_tensor_sizes(tensor, s.data(), 8, &dims);
       s.resize(dims);
       const auto &items = c.items(s);
       return td_tensor_index(tensor, items.items.data(), items.items.size(), c.out_tensor());
     }},
    {"td_tensor_set_at", writes,
     [](Call &c) {
       auto *tensor = c.target_tensor();
       Sizes s(8, 0);
       std::size_t dims = 0;
       (void)td_tensor_sizes(tensor, s.data(), 8, &dims);
       s.resize(dims);
       const auto &items = c.items(s);
       return td_tensor_set_at(tensor, items.items.data(), items.items.size(), c.tensor());
     }},
    ROW(td_tensor_copy, writes, TargetTensor, Tensor),
    {"td_tensor_copy_from", writes,
     [](Call &c) {
       auto *tensor = c.target_tensor();
       std::size_t bytes = 0;
       (void)td_tensor_nbytes(tensor, &bytes);
       const std::string data(bytes, '\1');
       return td_tensor_copy_from(tensor, data.data(), bytes);
     }},
    {"td_tensor_copy_to", reads,
     [](Call &c) {
       const auto *tensor = c.tensor();
       std::size_t bytes = 0;
       (void)td_tensor_nbytes(tensor, &bytes);
       return bytes > Call::text_room ? TD_OK : td_tensor_copy_to(tensor, c.out_text(), bytes);
     }},
    ROW(td_tensor_clone, reads, Tensor, OutTensor),
    ROW(td_tensor_contiguous, reads, Tensor, OutTensor),
    {"td_tensor_to", reads,
     [](Call &c) {
       return td_tensor_to(c.tensor(), static_cast<td_dtype>(c.number(0, 13)), TD_DEVICE_NONE, -1,
                           c.out_tensor());
     }},
    ROW(td_tensor_equal, reads, Tensor, Tensor, OutFlag),
    ROW(td_tensor_to_string, reads, Tensor, OutText),
    {"td_tensor_set_requires_grad", writes,
     [](Call &c) { return td_tensor_set_requires_grad(c.target_tensor(), c.flag("on")); }},
    {"td_tensor_expand_right", reads,
     [](Call &c) {
       const auto *tensor = c.tensor();
       auto &s = c.sizes(c.plan().base);
       s.push_back(2);
       return td_tensor_expand_right(tensor, s.data(), s.size(), c.out_tensor());
     }},
    ROW(td_tensor_strides, reads | layout, Tensor, OutSizes),
    ROW(td_tensor_device, reads, Tensor, OutFlag, OutFlag),
    {"td_tensor_data", reads | layout,
     [](Call &c) {
       void *data = nullptr;
       return td_tensor_data(c.tensor(), &data);
     }},
    ROW(td_tensor_is_contiguous, reads, Tensor, OutFlag),
    ROW(td_tensor_is_memmap, reads, Tensor, OutFlag),
    ROW(td_tensor_requires_grad, reads, Tensor, OutFlag),
    ROW(td_tensor_is_uniquely_owned, reads | layout, Tensor, OutFlag),
    ROW(td_tensor_owned_nbytes, reads | layout, Tensor, OutCount),
    ROW(td_owned_nbytes, reads | layout, Source, OutCount),
    {"td_tensor_to_dlpack and back", reads,
     [](Call &c) {
       const auto *tensor = c.tensor();
       if (c.flag("legacy")) {
         DLManagedTensor *lent = nullptr;
         const td_status status = td_tensor_to_dlpack_legacy(tensor, &lent);
         return status != TD_OK ? status : td_tensor_from_dlpack_legacy(lent, c.out_tensor());
       }
       DLManagedTensorVersioned *lent = nullptr;
       const td_status status = td_tensor_to_dlpack(tensor, &lent);
       return status != TD_OK ? status : td_tensor_from_dlpack(lent, c.out_tensor());
     }},
    {"td_get_int", reads,
     [](Call &c) {
       const auto *td = c.source();
       auto &p = c.path(td);
       std::int64_t value = 0;
       const td_status status = td_get_int(td, p.data(), p.size(), &value);
       tell_number(c, status, value);
       return status;
     }},
    {"td_get_double", reads,
     [](Call &c) {
       const auto *td = c.source();
       auto &p = c.path(td);
       double value = 0;
       const td_status status = td_get_double(td, p.data(), p.size(), &value);
       tell_number(c, status, value);
       return status;
     }},
    {"td_set_int", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       const std::int64_t value = c.number(-1, 300);
       return td_set_int(td, p.data(), p.size(), value, static_cast<td_dtype>(c.number(0, 13)));
     }},
    {"td_set_double", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       const auto value = static_cast<double>(c.number(-1, 300)) / 2;
       return td_set_double(td, p.data(), p.size(), value, static_cast<td_dtype>(c.number(0, 13)));
     }},
    {"td_get_data", reads,
     [](Call &c) -> td_status {
       const auto *td = c.source();
       auto &p = c.path(td);
       std::int64_t found[16];
       std::size_t dims = 0;
       td_dtype dtype = TD_DTYPE_INT64;
       (void)td_get_dtype(td, p.data(), p.size(), &dtype);
       if (td_get_sizes(td, p.data(), p.size(), found, 16, &dims) != TD_OK) dims = 0;
       const std::size_t bytes = elements(Sizes(found, found + dims)) * td_dtype_size(dtype);
       if (bytes > Call::text_room) return TD_OK;
       return td_get_data(td, p.data(), p.size(), dtype, c.out_text(), bytes);
     }},
    {"td_set_data", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       auto &s = c.sizes(Call::batch(td));
       if (c.choices.chance(30)) s.push_back(2);
       const std::string data(elements(s) * 8, '\1');
       return td_set_data(td, p.data(), p.size(), data.data(), data.size(), s.data(), s.size(),
                          TD_DTYPE_INT64);
     }},
    {"td_to_structs", reads,
     [](Call &c) -> td_status {
       const auto *td = c.source();
       const Structs structs(c, td);
       const std::size_t bytes = elements(Call::batch(td)) * structs.bytes;
       if (bytes > Call::text_room) return TD_OK;
       return td_to_structs(td, c.out_text(), bytes, structs.bytes, structs.members, 2);
     }},
    {"td_from_structs", reads,
     [](Call &c) {
       const auto *td = c.source();
       const Structs structs(c, td);
       const Sizes batch = Call::batch(td);
       const std::string data(elements(batch) * structs.bytes, '\1');
       return td_from_structs(data.data(), data.size(), batch.data(), batch.size(), structs.bytes,
                              structs.members, 2, c.dict());
     }},
};

}  // namespace

void add_tensor_rows(std::vector<Operation> &all) {
  all.insert(all.end(), std::begin(rows), std::end(rows));
}

}  // namespace attack
