// Archives of torch.save: the zip archive as it is, or, behind a first byte of 0, the pickle alone, which
// is put into one.
#include "fuzz.h"

namespace {

void append(std::string &out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 255);
}

std::uint32_t crc_of(std::string_view data) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
  }
  return ~crc;
}

// A zip archive with the pickle and two storages of 64 bytes.
std::string archive(std::string_view pickle) {
  const std::string storage(64, '\1');
  const std::pair<std::string, std::string_view> files[] = {
      {"a/data.pkl", pickle}, {"a/data/0", storage}, {"a/data/1", storage}};
  std::string out, directory;
  for (const auto &[name, data] : files) {
    const std::size_t at = out.size();
    std::string fields;
    append(fields, 0, 8);  // flags, method, time, date
    append(fields, crc_of(data), 4);
    append(fields, data.size(), 4);
    append(fields, data.size(), 4);
    append(fields, name.size(), 2);
    append(fields, 0, 2);
    out.append("PK\3\4\x14", 5).append(1, '\0').append(fields).append(name).append(data);
    directory.append("PK\1\2\x14\3\x14", 7).append(1, '\0').append(fields);
    directory.append(10, '\0');
    append(directory, at, 4);
    directory += name;
  }
  const std::size_t at = out.size();
  out += directory;
  out.append("PK\5\6", 4);
  append(out, 0, 4);
  append(out, 3, 2);
  append(out, 3, 2);
  append(out, directory.size(), 4);
  append(out, at, 4);
  append(out, 0, 2);
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const fuzz::Scratch scratch;
  const std::string_view input(reinterpret_cast<const char *>(data), size);
  const bool bare = size > 0 && data[0] == 0;
  scratch.write("f", bare ? archive(input.substr(1)) : std::string(input));
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.format = TD_FILE_PT;
  const std::string file = scratch.path("f");
  fuzz::Dict td;
  if (!fuzz::done(td_file_load(file.c_str(), &options, td.out()))) {
    FUZZ_CHECK(!td);
    return 0;
  }
  fuzz::read_all(td.get());
  fuzz::saves_again(scratch, td.get());
  return 0;
}
