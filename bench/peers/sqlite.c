/* SQLite: a row of a table for each step, all in one transaction. */
#include "peers.h"

#include <sqlite3.h>
#include <stddef.h>

static sqlite3* open_file(void) {
  sqlite3* file = NULL;
  if (sqlite3_open(file_named("steps.db"), &file) != SQLITE_OK)
    give_up("SQLite", sqlite3_errmsg(file));
  return file;
}

static void run(sqlite3* file, const char* text) {
  if (sqlite3_exec(file, text, NULL, NULL, NULL) != SQLITE_OK)
    give_up("SQLite", sqlite3_errmsg(file));
}

static sqlite3_stmt* prepared(sqlite3* file, const char* text) {
  sqlite3_stmt* statement = NULL;
  if (sqlite3_prepare_v2(file, text, -1, &statement, NULL) != SQLITE_OK)
    give_up("SQLite", sqlite3_errmsg(file));
  return statement;
}

static void write_steps(int64_t steps) {
  sqlite3* file = open_file();
  run(file, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  run(file,
      "CREATE TABLE steps (number INTEGER PRIMARY KEY, position BLOB, velocity BLOB, action BLOB, "
      "reward REAL, "
      "done INTEGER)");
  run(file, "BEGIN");
  sqlite3_stmt* insert = prepared(file, "INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?)");
  for (int64_t row = 0; row < steps; row++) {
    const step now = step_of(row);
    sqlite3_bind_int64(insert, 1, row);
    sqlite3_bind_blob(insert, 2, now.position, sizeof now.position, SQLITE_STATIC);
    sqlite3_bind_blob(insert, 3, now.velocity, sizeof now.velocity, SQLITE_STATIC);
    sqlite3_bind_blob(insert, 4, now.action, sizeof now.action, SQLITE_STATIC);
    sqlite3_bind_double(insert, 5, (double)now.reward);
    sqlite3_bind_int(insert, 6, now.done);
    if (sqlite3_step(insert) != SQLITE_DONE) give_up("SQLite", sqlite3_errmsg(file));
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  run(file, "COMMIT");
  sqlite3_close(file);
}

static double read_rows(const int64_t* rows, int64_t minibatches) {
  sqlite3* file = open_file();
  sqlite3_stmt* select =
      prepared(file, "SELECT position, velocity, action, reward, done FROM steps WHERE number = ?");
  double sum = 0;
  for (int64_t k = 0; k < minibatches * MINIBATCH; k++) {
    sqlite3_bind_int64(select, 1, rows[k]);
    if (sqlite3_step(select) != SQLITE_ROW) give_up("SQLite", sqlite3_errmsg(file));
    const float *position = sqlite3_column_blob(select, 0),
                *velocity = sqlite3_column_blob(select, 1),
                *action = sqlite3_column_blob(select, 2);
    const step one = {{position[0]},
                      {0, 0, velocity[2]},
                      {0, 0, 0, action[3]},
                      (float)sqlite3_column_double(select, 3),
                      sqlite3_column_int(select, 4)};
    sum += sum_of(&one, 1);
    sqlite3_reset(select);
  }
  sqlite3_finalize(select);
  sqlite3_close(file);
  return sum;
}

peer sqlite_peer = {"SQLite, one transaction", SQLITE_VERSION, write_steps, read_rows};
