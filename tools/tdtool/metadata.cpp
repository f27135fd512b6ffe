// What a file keeps beside its entries: texts of safetensors, attributes of HDF5.
#include <limits>
#include <string>

#include "core/formats/json_text.h"
#include "core/formats/safetensors_header.h"
#include "core/io/mapped_file.h"
#include "plain.h"

extern "C" char *metadata_in_safetensors(const char *path) {
  try {
    const auto file = td::MappedFile::open(path, td::MappedFile::whole, td::MapMode::priv);
    const std::string_view bytes(file->data(), file->bytes());
    td::PlainBuilder texts;
    bool any = false;
    texts.open();
    for (const auto &[name, text] :
         td::safetensors::Header::read(bytes, "", std::numeric_limits<std::size_t>::max())
             .metadata) {
      // Ours.
      if (name == td::safetensors::extras_key || name == td::safetensors::native_key) continue;
      texts.name(name);
      texts.add(td::Plain::of_text(text));
      any = true;
    }
    texts.close(true);
    return any ? xstrdup(td::json_text(texts.take()).c_str()) : nullptr;
  } catch (const std::exception &) {  // who reads the entries says why the file cannot be read
    return nullptr;
  }
}

extern "C" void metadata_each(const char *json, metadata_take *take) {
  const td::Plain all = td::read_json(json, "the metadata", td::max_json_depth);
  for (std::size_t i = 0; i < all.items().size(); ++i) {
    const td::Plain &value = all.items()[i];
    const std::string name(all.name(i));
    if (!value.is(td::Plain::object)) take(nullptr, name.c_str(), td::json_text(value).c_str());
    for (std::size_t k = 0; value.is(td::Plain::object) && k < value.items().size(); ++k) {
      const std::string inner(value.name(k));
      take(name.c_str(), inner.c_str(), td::json_text(value.items()[k]).c_str());
    }
  }
}
