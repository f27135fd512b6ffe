// What is stored, sent, shared, consolidated.
#include "operation.h"

#include <cstring>
#include <filesystem>

namespace attack {

namespace {

struct Bytes {
  std::string data;
  std::size_t at = 0;
};

td_status put_bytes(void *user, const void *data, size_t bytes) {
  static_cast<Bytes *>(user)->data.append(static_cast<const char *>(data), bytes);
  return TD_OK;
}

td_status take_bytes(void *user, void *data, size_t bytes) {
  auto *from = static_cast<Bytes *>(user);
  if (from->data.size() - from->at < bytes) return -10003;
  if (bytes != 0) std::memcpy(data, from->data.data() + from->at, bytes);
  from->at += bytes;
  return TD_OK;
}

// A new place for each call.
std::string place() {
  static int number = 0;
  return scratch() + "/" + std::to_string(number++ % 64);
}

const Operation rows[] = {
    {"td_consolidate", reads,
     [](Call &c) { return td_consolidate(c.source(), nullptr, nullptr, c.dict()); }},
    {"td_consolidate (in place)", writes,
     [](Call &c) { return td_consolidate_inplace(c.target(), nullptr); }},
    {"td_is_consolidated", reads | layout,
     [](Call &c) { return td_is_consolidated(c.source(), c.out_flag()); }},
    {"td_is_shared", reads, [](Call &c) { return td_is_shared(c.source(), c.out_flag()); }},
    {"td_send and td_recv", reads,
     [](Call &c) {
       Bytes bytes;
       const td_status status = td_send(c.source(), nullptr, put_bytes, &bytes);
       return status != TD_OK ? status : td_recv(nullptr, nullptr, take_bytes, &bytes, c.dict());
     }},
    {"td_recv (into)", writes,
     [](Call &c) {
       auto *into = c.target();
       Bytes bytes;
       const td_status status = td_send(c.source_like(into), nullptr, put_bytes, &bytes);
       return status != TD_OK ? status : td_recv(into, nullptr, take_bytes, &bytes, c.dict());
     }},
    {"td_share_memory", writes | slow, [](Call &c) { return td_share_memory(c.target()); }},
    {"td_memmap", reads | slow,
     [](Call &c) {
       const std::string dir = place();
       const td_status status = td_memmap(c.source(), dir.c_str(), nullptr, c.dict());
       std::filesystem::remove_all(dir);
       return status;
     }},
    {"td_memmap_inplace", writes | slow,
     [](Call &c) {
       const std::string dir = place();
       const td_status status = td_memmap_inplace(c.target(), dir.c_str(), nullptr);
       std::filesystem::remove_all(dir);
       return status;
     }},
    {"td_memmap_like", reads | slow,
     [](Call &c) {
       const std::string dir = place();
       const td_status status = td_memmap_like(c.source(), dir.c_str(), nullptr, c.dict());
       std::filesystem::remove_all(dir);
       return status;
     }},
    {"td_memmap_load_into", writes | slow,
     [](Call &c) {
       const std::string dir = place();
       auto *td = c.target();
       td_tensordict *mapped = nullptr;
       td_status status = td_memmap(c.source_like(td), dir.c_str(), nullptr, &mapped);
       c.keep(mapped);
       if (status == TD_OK) status = td_memmap_load_into(td, dir.c_str(), nullptr);
       std::filesystem::remove_all(dir);
       return status;
     }},
    {"td_file_save", reads | slow,
     [](Call &c) {
       const std::string file = place() + ".safetensors";
       td_status status = td_file_save(c.source(), file.c_str(), nullptr);
       if (status == TD_OK) status = td_file_load(file.c_str(), nullptr, c.dict());
       return status;
     }},
};

}  // namespace

void add_file_rows(std::vector<Operation> &all) {
  all.insert(all.end(), std::begin(rows), std::end(rows));
}

}  // namespace attack
