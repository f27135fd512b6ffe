// Writes entries to a store.
#include "core/store/redis_store.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor_index.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>

namespace td::store {

void RedisStore::require_unlocked() const {
  if (locked_) fail(Code::locked, "the store is locked: unlock it first, or write in place");
}

// Throws if the guess has an entry where a dictionary is needed, or a dictionary where an entry goes.
void RedisStore::require_room(std::string_view path) const {
  const std::string& where = connection_.where();
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos;
       dot = path.find('.', dot + 1)) {
    if (guess_.entries.find(path.substr(0, dot)) == guess_.entries.end()) continue;
    fail(Code::wrong_entry, shown_entry(where, path.substr(0, dot)), " is no dictionary");
  }
  const std::string below = std::string(path) + '.';
  const auto next = guess_.entries.lower_bound(below);
  if (next == guess_.entries.end() || !lies_below(next->first, path)) return;
  fail(Code::wrong_entry, shown_entry(where, path), " is a dictionary; remove it first");
}

// A server holds all commands of a transaction back, and closes connections with more than a gigabyte of them.
// So what is too much for one transaction is sent before, in parts, under keys that vanish if it fails.
void RedisStore::send_ahead(std::vector<NewEntry>& entries) {
  constexpr std::size_t most_together = std::size_t{128} << 20, part_bytes = std::size_t{32} << 20;
  std::string mark;  // takes half a millisecond: only when something is sent ahead
  ahead_.clear();
  std::size_t together = 0;
  for (NewEntry& entry : entries) {
    if (!entry.tensor.defined()) continue;
    const std::string_view bytes = bytes_view(entry.tensor);
    if (together + bytes.size() <= most_together) {
      together += bytes.size();
      continue;
    }
    if (mark.empty()) mark = random_id();
    entry.sent_as = keys_.part(mark, ahead_.size());
    ahead_.push_back(entry.sent_as);
    for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
      Request request;
      request.begin(4);
      request.part("SETRANGE");
      request.part(entry.sent_as);
      request.part(std::to_string(at));
      request.value(bytes.substr(at, part_bytes));
      request.add({"EXPIRE", entry.sent_as, "3600"});
      for (const Reply& reply : connection_.run(request))
        Answer(reply, connection_.where()).integer("the answer to a part of a value");
    }
  }
}

// Removes what was sent ahead, after a call that failed; a server that is away forgets it after an hour.
void RedisStore::drop_ahead(const Error& error) noexcept {
  if (ahead_.empty() || error.code() == Code::io) return;
  try {
    Request request;
    for (const std::string& key : ahead_) request.add({"DEL", key});
    connection_.run(request);
  } catch (...) {
  }
}

void RedisStore::put(const std::function<std::vector<NewEntry>()>& made) {
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    std::vector<NewEntry> entries = made();
    if (entries.empty()) return;
    try {
      send_ahead(entries);
      std::vector<std::string> keys = ahead_;
      keys.insert(keys.begin(), guess_.form.key(keys_));
      Transaction transaction(keys, guess_.form.text, keys_.guard());
      decltype(guess_.entries) metas;
      add_entries(transaction.commands(), entries, /*zeros=*/false, metas);
      if (transaction.run(connection_).done()) {
        for (auto& meta : metas) guess_.entries[meta.first] = std::move(meta.second);
        return;
      }
      // The server was emptied, or has another dictionary of this id.
      fetch(connection_, keys_, guess_, {}, Wanted::metadata);
    } catch (const Error& error) {
      drop_ahead(error);
      throw;
    }
  }
  fail(Code::busy, connection_.where(),
       ": others kept changing the dictionary while it was written");
}

// Creates the whole dictionary atomically.
void RedisStore::begin(SizesView batch, const std::optional<c10::Device>& device,
                       const TensorDict& td, bool zeros) {
  for (const std::int64_t size : batch) {
    if (size < 0)
      fail(Code::shape, "a batch size of ", show_sizes(batch), " cannot lie in a store");
  }
  const std::lock_guard<std::mutex> turn(mutex_);
  std::optional<std::vector<NewEntry>> stack;
  if (const auto dim = stack_dim_of(*td.node())) {
    guess_.form = stack_form(batch, *dim);
    stack = stack_entries({}, td);
  }
  if (!stack) guess_.form = dense_form(batch);
  std::vector<NewEntry> entries = stack ? std::move(*stack) : entries_of({}, td);
  const Form& form = guess_.form;
  const std::string& where = connection_.where();
  const std::string mark = random_id();
  bool taken = false;
  const auto create = [&] {
    if (!zeros) send_ahead(entries);
    // WATCH cancels the transaction if another client takes the same id.
    Request watch;
    watch.begin(3 + ahead_.size());
    for (const std::string& part : {std::string("WATCH"), keys_.batch(), keys_.type()})
      watch.part(part);
    for (const std::string& key : ahead_) watch.part(key);
    watch.add({"EXISTS", keys_.batch(), keys_.type()});
    watch.add({"GET", keys_.maker()});
    for (const std::string& key : ahead_) watch.add({"EXISTS", key});
    const std::vector<Reply> replies = connection_.run(watch);
    Answer(replies[0], where).ok("the answer to WATCH");
    taken = Answer(replies[1], where).integer("the answer to EXISTS") != 0;
    // This call already created it; only the answer was lost.
    const auto maker = Answer(replies[2], where).text_or_nil("the answer to GET");
    if (taken && maker == mark) {
      Request unwatch;
      unwatch.add({"UNWATCH"});
      connection_.run(unwatch);
      taken = false;
      return;
    }
    if (taken) return;
    for (std::size_t i = 3; i < replies.size(); ++i) {
      if (Answer(replies[i], where).integer("the answer to EXISTS") == 1) continue;
      fail(Code::busy, where, ": the server has dropped a part of what was sent");
    }
    Transaction transaction;
    transaction.expect_changes();
    Request& commands = transaction.commands();
    if (form.stack_dim) {
      commands.add({"SET", keys_.type(), "lazy_stack"});
      commands.add({"SET", keys_.count(), form.text});
      commands.add({"SET", keys_.stack_dim(), std::to_string(*form.stack_dim)});
      commands.add({"SET", keys_.inner(), show_sizes(form.inner())});
    } else {
      commands.add({"SET", keys_.batch(), form.text});
    }
    commands.add({"SET", keys_.device(), device ? device->str() : ""});
    commands.add({"SET", keys_.maker(), mark, "EX", "60"});
    guess_.entries.clear();
    add_entries(commands, entries, zeros, guess_.entries);
    taken = !transaction.run(connection_).done();
  };
  try {
    connection_.together(create);
    if (taken) {
      fail(Code::key_exists, where, " has a dictionary with the id ", quote(id_), " already");
    }
  } catch (const Error& error) {
    drop_ahead(error);
    throw;
  }
}

void RedisStore::set(Path path, const at::Tensor& value) {
  const std::string name = joined(path);
  const std::lock_guard<std::mutex> turn(mutex_);
  require_unlocked();
  put([&] {
    require_batch(path, value.sizes(), guess_.form.batch);
    require_room(name);
    return std::vector<NewEntry>{tensor_entry(name, value)};
  });
}

void RedisStore::set_non_tensor(Path path, std::string_view json) {
  const std::string name = joined(path);
  const std::string text = python_json(read_value(json, "the value"));
  const std::lock_guard<std::mutex> turn(mutex_);
  require_unlocked();
  put([&] {
    if (guess_.form.stack_dim) fail_values(name);
    require_room(name);
    NewEntry entry;
    entry.path = name;
    entry.json = text;
    return std::vector<NewEntry>{entry};
  });
}

void RedisStore::set_dict(Path path, const TensorDict& value) { put_below(joined(path), value); }

void RedisStore::update(const TensorDict& value) { put_below({}, value); }

void RedisStore::put_below(const std::string& below, const TensorDict& value) {
  const std::lock_guard<std::mutex> turn(mutex_);
  require_unlocked();
  put([&] {
    const Form& form = guess_.form;
    if (!begins_with(value.batch_size(), form.batch)) {
      fail(Code::shape, "a dictionary of batch size ", show_sizes(value.batch_size()),
           " does not fit the batch size of the store, ", show_sizes(form.batch));
    }
    std::optional<std::vector<NewEntry>> stack;
    if (form.stack_dim && stack_dim_of(*value.node()) == form.stack_dim)
      stack = stack_entries(below, value);
    std::vector<NewEntry> entries = stack ? std::move(*stack) : entries_of(below, value);
    for (const NewEntry& entry : entries) require_room(entry.path);
    return entries;
  });
}

void RedisStore::set_at(Path path, c10::ArrayRef<IndexItem> items, const at::Tensor& value) {
  until_done(path, "written", [&](const auto& name, const auto& entry, const Meta& meta) {
    // Of a lazy stack whose elements differ in shape, one is written.
    const bool uneven = !meta.shapes.empty();
    const Meta one = uneven ? meta.element(element_picked(items, meta, entry)) : Meta();
    const Sizes& sizes = uneven ? one.sizes : meta.sizes;
    const Sizes part = IndexPlan(uneven ? items.slice(1) : items, sizes).sizes(sizes);
    const at::Tensor fitted = without_leading_ones(value, part.size());
    if (!broadcasts(fitted.sizes(), part)) {
      fail(Code::shape, entry, ": values of sizes ", show_sizes(value.sizes()),
           " do not fit a part of ", show_sizes(part));
    }
    const at::Tensor bytes = plain(fitted.to(meta.dtype).expand(part), name);
    const std::vector<Span> spans = spans_to_write(meta, items, entry);
    Request request;
    ask_write(request, keys_, name, meta, spans, bytes_view(bytes));
    const std::vector<Reply> replies = connection_.run(request);
    const Answer answer(replies[0], connection_.where());
    if (answer.integer("the answer to a write") == 1) return true;
    refresh_meta(name);
    if (*guess_.entries[name] == meta) {
      fail(Code::format, entry, ": the number of its bytes is not that of ", meta.dtype_text,
           " of ", show_sizes(meta.sizes));
    }
    return false;
  });
}

void RedisStore::remove(Path path) {
  const std::string name = joined(path);
  const std::lock_guard<std::mutex> turn(mutex_);
  require_unlocked();
  fetch(connection_, keys_, guess_, name, Wanted::metadata);  // updates the guess
  std::vector<std::string> gone;
  for (const auto& entry : guess_.entries) {
    if (entry.first == name || lies_below(entry.first, name)) gone.push_back(entry.first);
  }
  if (gone.empty()) fail_missing(name);
  Transaction transaction;
  for (const std::string& one : gone) {
    add_removal(transaction.commands(), one);
    transaction.commands().add({"SREM", keys_.paths(), one});
  }
  transaction.run(connection_);
  for (const std::string& one : gone) guess_.entries.erase(one);
}

}  // namespace td::store
