// SQLite as rosbag2 uses it: the tables "topics" and "messages", and in newer files "message_definitions".
#include "core/bags/bag.h"
#include "core/base/quote.h"
#include "core/io/file_io.h"
#include "core/io/loaded_library.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace td::bags {

namespace {

// As the library declares them, in all versions 3.
enum : int { ok = 0, no_memory = 7, a_row = 100, done = 101, as_blob = 4 };
enum : int { read_only = 1, by_uri = 0x40, own_mutex = 0x10000, limit_length = 0 };

struct Sqlite {
  int (*open)(const char*, void**, int, const char*);
  int (*close)(void*);
  int (*limit)(void*, int, int);
  int (*execute)(void*, const char*, void*, void*, void*);
  const char* (*text_of_error)(void*);
  int (*prepare)(void*, const char*, int, void**, const char**);
  int (*step)(void*);
  int (*reset)(void*);
  int (*finalize)(void*);
  int (*bind)(void*, int, std::int64_t);
  int (*type)(void*, int);
  int (*bytes)(void*, int);
  std::int64_t (*integer)(void*, int);
  const void* (*blob)(void*, int);

  Sqlite() {
    const LoadedLibrary library("libsqlite3.so.0", "libsqlite3-0", "bags of SQLite");
    library.find(open, "sqlite3_open_v2");
    library.find(close, "sqlite3_close");
    library.find(limit, "sqlite3_limit");
    library.find(execute, "sqlite3_exec");
    library.find(text_of_error, "sqlite3_errmsg");
    library.find(prepare, "sqlite3_prepare_v2");
    library.find(step, "sqlite3_step");
    library.find(reset, "sqlite3_reset");
    library.find(finalize, "sqlite3_finalize");
    library.find(bind, "sqlite3_bind_int64");
    library.find(type, "sqlite3_column_type");
    library.find(bytes, "sqlite3_column_bytes");
    library.find(integer, "sqlite3_column_int64");
    library.find(blob, "sqlite3_column_blob");
  }
};

const Sqlite& sqlite() { return loaded<Sqlite>(); }

class Database {
 public:
  Database(const std::string& path, std::uint64_t most) : where_(quote(path)) {
    // Versions of SQLite differ in whether they open it.
    if (files::look(path).bytes == 0) fail(Code::format, where_, " has no bytes");
    // A file without a writer is left alone entirely; beside a journal the library must look at that.
    const bool journal = files::look(path + "-wal").bytes > 0;
    std::string uri = "file:";
    for (const char c : path) {
      if (c == '%' || c == '?' || c == '#') {
        constexpr char digits[] = "0123456789ABCDEF";
        const auto byte = static_cast<unsigned char>(c);
        uri += {'%', digits[byte / 16], digits[byte % 16]};
      } else {
        uri += c;
      }
    }
    if (!journal) uri += "?immutable=1";
    const int status =
        sqlite().open(uri.c_str(), &database_, read_only | by_uri | own_mutex, nullptr);
    if (status != ok) {
      const std::string why =
          database_ == nullptr ? "no memory" : sqlite().text_of_error(database_);
      sqlite().close(database_);
      fail(Code::io, "cannot open ", where_, ": ", why);
    }
    sqlite().limit(database_, limit_length,
                   static_cast<int>(std::min<std::uint64_t>(most, 1 << 30)));
    sqlite().execute(database_, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON", nullptr,
                     nullptr, nullptr);
  }
  ~Database() { sqlite().close(database_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[noreturn]] void fail_now(int status) const {
    fail(status == no_memory ? Code::out_of_memory : Code::format, where_, ": ",
         sqlite().text_of_error(database_));
  }
  void* handle() const noexcept { return database_; }

 private:
  std::string where_;
  void* database_ = nullptr;
};

class Question {
 public:
  Question(const Database& database, const char* text) : database_(database) {
    const int status = sqlite().prepare(database.handle(), text, -1, &handle_, nullptr);
    if (status != ok) database.fail_now(status);
  }
  ~Question() { sqlite().finalize(handle_); }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  bool next() const {
    const int status = sqlite().step(handle_);
    if (status != a_row && status != done) database_.fail_now(status);
    return status == a_row;
  }
  void ask(std::int64_t number) const {
    sqlite().reset(handle_);
    sqlite().bind(handle_, 1, number);
  }
  std::int64_t integer(int column) const { return sqlite().integer(handle_, column); }
  // Of a text or a blob; a null is empty.
  std::string_view bytes(int column) const {
    const void* at = sqlite().blob(handle_, column);
    const int size = sqlite().bytes(handle_, column);
    return at == nullptr || size <= 0
               ? std::string_view()
               : std::string_view(static_cast<const char*>(at), static_cast<std::size_t>(size));
  }

 private:
  const Database& database_;
  void* handle_ = nullptr;
};

bool has_table(const Database& database, const char* name) {
  const Question question(database, "SELECT name FROM sqlite_master WHERE type = 'table'");
  while (question.next()) {
    if (question.bytes(0) == name) return true;
  }
  return false;
}

class SqliteBag final : public Bag {
 public:
  SqliteBag(const std::string& path, std::uint64_t max_bytes)
      : most_(max_bytes != 0 ? max_bytes
                             : 1100 * files::look(path).bytes + (std::uint64_t{64} << 20)),
        database_(path, most_) {
    where = quote(path);
    if (!has_table(database_, "topics") || !has_table(database_, "messages"))
      fail(Code::format, where,
           " is a database, but no bag: it lacks the tables topics and messages");
    std::map<std::int64_t, std::size_t> numbers;
    read_topics(numbers);
    if (has_table(database_, "message_definitions")) read_schemas();
    read_places(numbers);
    message_ = std::make_unique<Question>(database_, "SELECT data FROM messages WHERE id = ?");
  }

  std::string_view message(std::size_t, const Place& place, Unpacked& unpacked) const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    message_->ask(static_cast<std::int64_t>(place.at));
    if (!message_->next())
      fail(Code::format, where, ": message ", place.at, " is not there any more");
    unpacked.chunk = Place::no_chunk;
    unpacked.bytes = message_->bytes(0);
    return unpacked.bytes;
  }

 private:
  void read_topics(std::map<std::int64_t, std::size_t>& numbers) {
    const Question question(database_,
                            "SELECT id, name, type, serialization_format FROM topics ORDER BY id");
    while (question.next()) {
      Topic topic;
      topic.name = question.bytes(1);
      topic.type = question.bytes(2);
      topic.encoding = question.bytes(3);
      numbers[question.integer(0)] = topics.size();
      topics.push_back(std::move(topic));
    }
  }

  void read_schemas() {
    const Question question(
        database_,
        "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions");
    while (question.next()) {
      for (Topic& topic : topics) {
        if (topic.type != question.bytes(0)) continue;
        topic.schema_encoding = question.bytes(1);
        topic.schema = question.bytes(2);
      }
    }
  }

  void read_places(const std::map<std::int64_t, std::size_t>& numbers) {
    const Question question(database_, "SELECT id, topic_id, timestamp FROM messages");
    for (std::uint64_t count = 1; question.next(); ++count) {
      const auto found = numbers.find(question.integer(1));
      const std::int64_t id = question.integer(0), time = question.integer(2);
      if (found == numbers.end() || time < 0) {
        fail(Code::format, where, ": message ", id, " is of topic ", question.integer(1),
             " and time ", time, "; there is no such topic or time");
      }
      if (count > most_ / sizeof(Place))
        fail(Code::format, where, ": the places of its messages would take more than the limit of ",
             most_, " bytes");
      topics[found->second].messages.push_back({time, static_cast<std::uint64_t>(id)});
    }
    for (Topic& topic : topics) {
      std::sort(
          topic.messages.begin(), topic.messages.end(), [](const Place& one, const Place& other) {
            return one.time != other.time
                       ? one.time < other.time
                       : static_cast<std::int64_t>(one.at) < static_cast<std::int64_t>(other.at);
          });
    }
  }

  std::uint64_t most_;
  Database database_;
  std::unique_ptr<Question> message_;
  mutable std::mutex mutex_;
};

}  // namespace

std::unique_ptr<Bag> open_sqlite(const std::string& path, std::uint64_t max_bytes) {
  return std::make_unique<SqliteBag>(path, max_bytes);
}

}  // namespace td::bags
