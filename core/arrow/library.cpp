#include "core/arrow/library.h"

#include "core/io/own_module.h"

namespace td::arrow {

Library::Library(const std::string& where) {
  const OwnModule module(where, "tensordict-arrow.so",
                         "install tensordict-arrow, or libarrow-dev and libparquet-dev, and build "
                         "this library with -Darrow=enabled",
                         "td_arrow_module_version", TD_ARROW_MODULE_VERSION);
  module.find(read, "td_arrow_file_read");
  module.find(open, "td_arrow_file_open");
  module.find(close, "td_arrow_file_close");
  module.find(about, "td_arrow_file_about");
  module.find(rows, "td_arrow_file_rows");
  module.find(read_part, "td_arrow_file_read_part");
  module.find(write, "td_arrow_file_write");
}

}  // namespace td::arrow
