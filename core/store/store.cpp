// Creates, finds and removes stores.
#include "core/store/store.h"

#include "core/store/redis_store.h"

#include "core/formats/json_text.h"
#include "core/inspect/describe.h"

#include <algorithm>

namespace td::store {

namespace {

Options checked(Options options) {
  const auto refuse = [](const char* what, std::int64_t found, const char* valid) {
    fail(Code::invalid_argument, what, " is ", found, "; ", valid);
  };
  if (options.port < 1 || options.port > 65535)
    refuse("port", options.port, "1 to 65535 are valid");
  if (options.database < 0 || options.database > INT32_MAX) {
    refuse("db", options.database, "0 and up to what the server has are valid");
  }
  if (options.timeout_ms < -1 || options.timeout_ms == 0) {
    refuse("timeout_ms", options.timeout_ms, "1 and more are valid, and -1 for no limit");
  }
  constexpr std::int64_t year_ms = std::int64_t{365} * 24 * 3600 * 1000;
  options.timeout_ms = std::min(options.timeout_ms, year_ms);
  if (options.host.empty()) fail(Code::invalid_argument, "host is empty");
  for (const std::string* text : {&options.prefix, &options.id}) {
    constexpr std::size_t longest = 4096;
    if (!is_utf8(*text) || text->size() > longest) {
      fail(Code::invalid_argument, "a prefix or an id is longer than ", longest,
           " bytes, or not UTF-8");
    }
  }
  return options;
}

Options with_id(const Options& options) {
  Options result = checked(options);
  if (result.id.empty()) result.id = random_id();
  return result;
}

std::unique_ptr<Store> begun(SizesView batch, const std::optional<c10::Device>& device,
                             const Options& options, const TensorDict& td, bool zeros = false) {
  auto store = std::make_unique<RedisStore>(with_id(options), connect_socket);
  store->begin(batch, device, td, zeros);
  return store;
}

}  // namespace

std::unique_ptr<Store> Store::open(const Options& options) {
  if (options.id.empty()) {
    fail(Code::invalid_argument, "missing id: which dictionary of the server should be opened?");
  }
  auto store = std::make_unique<RedisStore>(checked(options), connect_socket);
  store->attach();
  return store;
}

std::unique_ptr<Store> Store::create(SizesView batch, const Options& options) {
  return begun(batch, std::nullopt, options, TensorDict());
}

std::unique_ptr<Store> Store::from(const TensorDict& td, const Options& options) {
  return begun(td.batch_size(), td.device(), options, td);
}

std::unique_ptr<Store> Store::from_schema(std::string_view schema, const Options& options) {
  const TensorDict shapes =
      td::from_schema(schema, {Content::uninitialised, c10::Device(c10::kCPU)});
  return begun(shapes.batch_size(), std::nullopt, options, shapes, /*zeros=*/true);
}

RedisStore::RedisStore(const Options& options, Connect connect)
    : id_(options.id),
      connection_(options, std::move(connect)),
      keys_(options.prefix, options.id) {}

void RedisStore::attach() {
  const std::lock_guard<std::mutex> turn(mutex_);
  Transaction transaction;
  ask_form(transaction.commands(), keys_);
  transaction.commands().add({"SMEMBERS", keys_.paths()});
  const Transaction::Answers answers = transaction.run(connection_);
  const std::string& where = connection_.where();
  std::optional<Form> form = read_form(answers[0], where);
  if (!form) {
    fail(Code::key_not_found, where, " has no dictionary with the id ", quote(id_),
         " and the prefix ", quote(connection_.options().prefix));
  }
  guess_.form = std::move(*form);
  for (const Answer& name : answers[1].list("the names of the entries")) {
    const std::string_view path = name.text("the name of an entry");
    check_stored_path(path, where);
    guess_.entries.emplace(path, std::nullopt);
  }
}

void RedisStore::erase() {
  const std::lock_guard<std::mutex> turn(mutex_);
  require_unlocked();
  // Repeat, to remove entries that other clients add meanwhile.
  for (bool left = true; left;) {
    Transaction transaction;
    Request& commands = transaction.commands();
    commands.add({"SMEMBERS", keys_.paths()});
    commands.add({"DEL", keys_.batch(), keys_.device(), keys_.tensorclass(), keys_.maker(),
                  keys_.paths(), keys_.type(), keys_.count(), keys_.stack_dim(), keys_.inner()});
    for (const auto& entry : guess_.entries) add_removal(commands, entry.first);
    const Transaction::Answers answers = transaction.run(connection_);
    left = false;
    decltype(guess_.entries) missed;
    for (const Answer& name : answers[0].list("the names of the entries")) {
      const std::string path(name.text("the name of an entry"));
      if (guess_.entries.count(path) == 0) missed.emplace(path, std::nullopt);
    }
    left = !missed.empty();
    guess_.entries = std::move(missed);
  }
}

}  // namespace td::store
