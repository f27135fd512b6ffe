/* Writes the files that test_arrow_exchange.py compares: arrow_exchange FOLDER ROWS. */
#include <stdio.h>
#include <stdlib.h>

#include "td_arrow_files.h"

TD_TEST(write_what_another_program_reads) {
  const char *folder = getenv("TD_EXCHANGE_FOLDER"), *rows = getenv("TD_EXCHANGE_ROWS");
  if (!folder || !rows) td_test_skip("it runs for test_arrow_exchange.py");
  td_tensordict *td = arrow_sample(atoll(rows));
  td_file_options options = TD_FILE_OPTIONS_INIT;
  TD_DO(td_file_save(td, td_path(folder, "a.parquet"), &options));
  TD_DO(td_file_save(td, td_path(folder, "a.arrow"), &options));
  options.deflate = 1;
  TD_DO(td_file_save(td, td_path(folder, "compressed.arrow"), &options));
  td_free(td);
}
