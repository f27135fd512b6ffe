// What is stored, sent, shared, consolidated.
#include "row.h"

#include <fcntl.h>
#include <unistd.h>
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

// A new place for each call; what is there goes with it.
class Place {
 public:
  Place() {
    static int number = 0;
    path_ = scratch() + "/" + std::to_string(number++ % 64);
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Place(const Place &) = delete;
  Place &operator=(const Place &) = delete;
  const char *path() const { return path_.c_str(); }
  const char *path(const char *ending) {
    path_ += ending;
    return path_.c_str();
  }

 private:
  std::string path_;
};

// What a target is made of is saved by itself first.
td_status mapped_copy(Call &c, const td_tensordict *source, const Place &place,
                      td_tensordict **result) {
  const td_status status = td_memmap(source, place.path(), nullptr, result);
  c.keep(*result);
  return status;
}

using namespace drawn;

const Operation rows[] = {
    {"td_consolidate", reads,
     [](Call &c) { return td_consolidate(c.source(), nullptr, nullptr, c.dict()); }},
    {"td_consolidate (in place)", writes,
     [](Call &c) { return td_consolidate_inplace(c.target(), nullptr); }},
    ROW(td_is_consolidated, reads | layout, Source, OutFlag),
    ROW(td_is_shared, reads, Source, OutFlag),
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
    ROW(td_share_memory, writes | slow, Target),
    {"td_memmap", reads | slow,
     [](Call &c) {
       const Place dir;
       return td_memmap(c.source(), dir.path(), nullptr, c.dict());
     }},
    {"td_memmap_inplace", writes | slow,
     [](Call &c) {
       const Place dir;
       return td_memmap_inplace(c.target(), dir.path(), nullptr);
     }},
    {"td_memmap_like", reads | slow,
     [](Call &c) {
       const Place dir;
       return td_memmap_like(c.source(), dir.path(), nullptr, c.dict());
     }},
    {"td_memmap_load_into", writes | slow,
     [](Call &c) {
       const Place dir;
       auto *td = c.target();
       td_tensordict *mapped = nullptr;
       const td_status status = mapped_copy(c, c.source_like(td), dir, &mapped);
       return status != TD_OK ? status : td_memmap_load_into(td, dir.path(), nullptr);
     }},
    {"td_file_save", reads | slow,
     [](Call &c) {
       Place place;
       static const char *const endings[] = {".safetensors", ".npz", ".pt"};
       const char *file = place.path(endings[c.number(0, 2)]);
       const td_status status = td_file_save(c.source(), file, nullptr);
       return status != TD_OK ? status : td_file_load(file, nullptr, c.dict());
     }},
    {"td_file_save_tensor", reads | slow,
     [](Call &c) {
       Place place;
       static const char *const endings[] = {".npy", ".pt"};
       const char *file = place.path(endings[c.number(0, 1)]);
       const td_status status = td_file_save_tensor(c.tensor(), file, nullptr);
       return status != TD_OK ? status : td_file_load_tensor(file, nullptr, c.out_tensor());
     }},
    {"td_table_save", reads | slow,
     [](Call &c) {
       const Place place;
       td_table_options options = TD_TABLE_OPTIONS_INIT;
       options.format = c.number(0, 1);
       options.separator = c.flag("nested") ? "." : nullptr;
       options.flags = c.flag("flat") ? TD_TABLE_FLATTEN : 0;
       const td_status status = td_table_save(c.source(), place.path(), &options);
       return status != TD_OK ? status : td_table_load(place.path(), &options, c.dict());
     }},
    {"td_schema and td_from_schema", reads,
     [](Call &c) {
       std::size_t length = 0;
       std::string text(Call::text_room, '\0');
       const td_status status = td_schema(c.source(), &text[0], text.size(), &length);
       return status != TD_OK ? status : td_from_schema(text.c_str(), nullptr, c.dict());
     }},
    {"td_consolidate (file)", reads | slow,
     [](Call &c) {
       const Place place;
       td_tensordict *made = nullptr;
       const td_status status = td_consolidate(c.source(), place.path(), nullptr, &made);
       c.keep(made);
       return status != TD_OK ? status : td_consolidated_load(place.path(), nullptr, c.dict());
     }},
    {"td_memmap (archive)", reads | slow,
     [](Call &c) {
       const Place place;
       td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
       options.archive = 1;
       options.compression = c.flag("deflate");
       const td_status status = td_memmap(c.source(), place.path(), &options, c.dict());
       return status != TD_OK ? status : td_memmap_is_archive(place.path(), c.out_flag());
     }},
    {"td_memmap_async", reads | slow,
     [](Call &c) {
       const Place place;
       td_future *future = nullptr;
       td_status status = td_memmap_async(c.source(), place.path(), nullptr, &future);
       if (status == TD_OK) status = td_future_result(future, c.dict());
       td_future_free(future);
       return status;
     }},
    {"td_memmap_make", reads | slow,
     [](Call &c) {
       const Place place;
       td_tensordict *mapped = nullptr;
       const auto *td = c.source();
       const td_status status = mapped_copy(c, td, place, &mapped);
       auto &p = c.new_path();
       auto &s = c.sizes(Call::batch(td));
       const auto *source = c.tensor_of(s);
       const bool from = c.flag("from a tensor");
       if (status != TD_OK) return status;
       return from ? td_memmap_make_from_tensor(mapped, p.data(), p.size(), source, nullptr,
                                                c.out_tensor())
                   : td_memmap_make(mapped, p.data(), p.size(), s.data(), s.size(), TD_DTYPE_INT64,
                                    nullptr, c.out_tensor());
     }},
    {"td_memmap_pack and td_memmap_unpack", reads | slow,
     [](Call &c) {
       const Place dir, file, again;
       std::size_t damaged = 0;
       td_tensordict *mapped = nullptr;
       td_status status = mapped_copy(c, c.source(), dir, &mapped);
       if (status == TD_OK) status = td_memmap_flush(mapped);
       if (status == TD_OK) status = td_memmap_pack(dir.path(), file.path(), nullptr);
       if (status == TD_OK) status = td_memmap_write_archive_checksums(file.path());
       if (status == TD_OK) status = td_memmap_unpack(file.path(), again.path(), nullptr);
       if (status == TD_OK) status = td_memmap_write_checksums(again.path(), nullptr);
       if (status == TD_OK) status = td_memmap_verify(again.path(), nullptr, &damaged);
       return status != TD_OK ? status : td_memmap_load(again.path(), nullptr, c.dict());
     }},
    {"td_writer_open_append", reads | slow,
     [](Call &c) {
       const Place dir;
       const auto *td = c.source();
       td_writer *writer = nullptr;
       td_status status = td_writer_open_append(dir.path(), td, nullptr, &writer);
       std::int32_t field = -1;
       std::size_t bytes = 0;
       auto &p = c.path(td);
       if (status == TD_OK) status = td_writer_bind(writer, p.data(), p.size(), &field);
       if (status == TD_OK) status = td_writer_row_bytes(writer, field, &bytes);
       const bool text = status == TD_ERR_WRONG_ENTRY;  // an entry with a text for each row
       if (text) status = td_writer_put_text(writer, field, "a text");
       const std::string row(bytes, '\1');
       if (status == TD_OK && !text) status = td_writer_put(writer, field, row.data(), bytes);
       if (status == TD_OK) status = td_writer_next(writer);
       if (status == TD_OK) status = td_writer_close(writer);
       td_writer_free(writer);
       if (status == TD_OK) status = td_memmap_truncate(dir.path(), c.number(0, 1), nullptr);
       return status != TD_OK ? status : td_memmap_load(dir.path(), nullptr, c.dict());
     }},
    {"td_send_fd and td_recv_fd", reads | slow,
     [](Call &c) {
       const Place file;
       const int fd = open(file.path(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
       td_status status = td_send_fd(c.source(), fd, nullptr);
       if (status == TD_OK && lseek(fd, 0, SEEK_SET) == 0)
         status = td_recv_fd(fd, nullptr, nullptr, c.dict());
       close(fd);
       return status;
     }},
    {"td_shared_open", writes | slow | steps,
     [](Call &c) {
       auto *td = c.target();
       std::string name(Call::text_room, '\0');
       std::size_t length = 0;
       td_status status = td_share_memory(td);
       if (status == TD_OK) status = td_shared_name(td, &name[0], name.size(), &length);
       return status != TD_OK ? status : td_shared_open(name.c_str(), c.dict());
     }},
    {"td_memmap_append", reads | slow,
     [](Call &c) {
       const Place place;
       td_tensordict *mapped = nullptr;
       const auto *td = c.source();
       td_status status = mapped_copy(c, td, place, &mapped);
       const auto *more = c.source_like(td);
       if (status == TD_OK) status = td_memmap_append(place.path(), more, nullptr);
       if (status == TD_OK) status = td_memmap_refresh(mapped, nullptr);
       if (status == TD_OK) status = td_clone(mapped, 0, c.dict());
       return status;
     }},
};

}  // namespace

void add_file_rows(std::vector<Operation> &all) {
  all.insert(all.end(), std::begin(rows), std::end(rows));
}

}  // namespace attack
