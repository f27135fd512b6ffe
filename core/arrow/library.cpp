#include "core/arrow/library.h"

#include "core/io/own_module.h"

namespace td::arrow {

namespace {

Library load(const std::string& where) {
  const OwnModule module(where, "tensordict-arrow.so",
                         "install libarrow-dev and libparquet-dev, and build this library with "
                         "-Darrow=enabled",
                         "td_arrow_module_version", TD_ARROW_MODULE_VERSION);
  Library found;
  module.find(found.read, "td_arrow_file_read");
  module.find(found.open, "td_arrow_file_open");
  module.find(found.close, "td_arrow_file_close");
  module.find(found.about, "td_arrow_file_about");
  module.find(found.rows, "td_arrow_file_rows");
  module.find(found.read_part, "td_arrow_file_read_part");
  module.find(found.write, "td_arrow_file_write");
  return found;
}

}  // namespace

const Library& library(const std::string& where) {
  static const Library loaded = load(where);  // retried after a failure
  return loaded;
}

}  // namespace td::arrow
