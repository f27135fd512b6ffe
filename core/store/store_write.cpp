// Writes entries to a store.
#include "core/store/redis_store.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor_index.h"

#include <ATen/ATen.h>

namespace td::store {

namespace {

[[noreturn]] void fail_each(std::string_view path) {
  fail(Code::unsupported, quote(path),
       " has a value for each element of its batch; a store keeps them for one batch dimension, "
       "which is its own");
}

}  // namespace

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

// Adds the commands that store `entries`; `metas` receives their metadata.
void RedisStore::add_entries(Request& commands, const std::vector<NewEntry>& entries, bool zeros,
                             decltype(Guess::entries)& metas) const {
  if (entries.empty()) return;
  for (const NewEntry& entry : entries) {
    const std::string data = keys_.data(entry.path), beside = keys_.meta(entry.path);
    Meta meta;
    meta.is_tensor = entry.tensor.defined();
    // Remove the metadata of the entry that this one replaces.
    commands.add({"DEL", beside});
    if (!meta.is_tensor) {
      meta.encoding = entry.each ? "json_array" : "json";
      commands.add({"SET", data, entry.json});
      commands.add({"HSET", beside, "is_non_tensor", "1", "encoding", meta.encoding});
    } else {
      const at::Tensor& tensor = entry.tensor;
      meta.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
      meta.dtype = tensor.scalar_type();
      meta.shape_text = show_sizes(meta.sizes);
      meta.dtype_text = stored_name(meta.dtype);
      if (zeros && tensor.nbytes() != 0) {
        // The server fills the bytes before the last one with zeros.
        commands.add({"DEL", data});
        commands.add({"SETRANGE", data, std::to_string(tensor.nbytes() - 1), {"\0", 1}});
      } else {
        commands.begin(3);
        commands.part("SET");
        commands.part(data);
        commands.value(bytes_view(tensor));
      }
      commands.add({"HSET", beside, "shape", meta.shape_text, "dtype", meta.dtype_text});
    }
    metas.emplace(entry.path, std::move(meta));
  }
  commands.begin(2 + entries.size());
  commands.part("SADD");
  commands.part(keys_.paths());
  for (const NewEntry& entry : entries) commands.part(entry.path);
}

void RedisStore::put(const std::vector<NewEntry>& entries) {
  if (entries.empty()) return;
  Transaction transaction;
  decltype(guess_.entries) metas;
  add_entries(transaction.commands(), entries, /*zeros=*/false, metas);
  transaction.run(connection_);
  for (auto& meta : metas) guess_.entries[meta.first] = std::move(meta.second);
}

// Creates the whole dictionary atomically.
void RedisStore::begin(SizesView batch, const std::optional<c10::Device>& device,
                       const TensorDict& td, bool zeros) {
  for (const std::int64_t size : batch) {
    if (size < 0)
      fail(Code::shape, "a batch size of ", show_sizes(batch), " cannot lie in a store");
  }
  const std::vector<NewEntry> entries = entries_of({}, td);
  const std::lock_guard<std::mutex> turn(mutex_);
  guess_.batch.assign(batch.begin(), batch.end());
  require_kept(entries);
  const std::string& where = connection_.where();
  const std::string mark = random_id();
  bool taken = false;
  connection_.together([&] {
    // WATCH cancels the transaction if another client takes the same id.
    Request watch;
    watch.add({"WATCH", keys_.batch(), keys_.type()});
    watch.add({"EXISTS", keys_.batch(), keys_.type()});
    watch.add({"GET", keys_.maker()});
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
    Transaction transaction;
    transaction.expect_changes();
    Request& commands = transaction.commands();
    commands.add({"SET", keys_.batch(), show_sizes(batch)});
    commands.add({"SET", keys_.device(), device ? device->str() : ""});
    commands.add({"SET", keys_.maker(), mark, "EX", "60"});
    guess_.entries.clear();
    add_entries(commands, entries, zeros, guess_.entries);
    taken = !transaction.run(connection_).done();
  });
  if (taken) {
    fail(Code::key_exists, where, " has a dictionary with the id ", quote(id_), " already");
  }
}

void RedisStore::set(Path path, const at::Tensor& value) {
  const std::string name = joined(path);
  NewEntry entry{name, plain(value, name), {}, false};
  const std::lock_guard<std::mutex> turn(mutex_);
  require_unlocked();
  require_batch(path, entry.tensor.sizes(), guess_.batch);
  require_room(name);
  put({entry});
}

void RedisStore::set_non_tensor(Path path, std::string_view json) {
  const std::string name = joined(path);
  std::string text = python_json(read_value(json, "the value"));
  const std::lock_guard<std::mutex> turn(mutex_);
  require_unlocked();
  require_room(name);
  put({{name, {}, std::move(text), false}});
}

// All leaves of a dictionary, in stored form.
std::vector<RedisStore::NewEntry> RedisStore::entries_of(const std::string& below,
                                                         const TensorDict& value) const {
  const FlatTree flat = flatten(value, FileOptions());
  const std::string begin = below.empty() ? below : below + '.';
  std::vector<NewEntry> entries;
  for (const FlatLeaf& leaf : flat.leaves) {
    const std::string name = begin + joined(path_view(leaf.path));
    entries.push_back({name, plain(leaf.tensor, name), {}, false});
  }
  for (const FlatExtras::NonTensor& data : flat.extras.data) {
    const std::vector<std::string_view> path = path_view(data.path);
    const std::string name = begin + joined(path);
    const Path above = Path(path).slice(0, path.size() - 1);
    const std::size_t dims =
        above.empty() ? value.batch_size().size() : entry_sizes(value, above).size();
    if (data.each && dims != 1) fail_each(name);
    entries.push_back({name, {}, python_json(data.value), data.each});
  }
  return entries;
}

void RedisStore::require_kept(const std::vector<NewEntry>& entries) const {
  for (const NewEntry& entry : entries) {
    if (entry.each && guess_.batch.size() != 1) fail_each(entry.path);
  }
}

void RedisStore::set_dict(Path path, const TensorDict& value) { put_below(joined(path), value); }

void RedisStore::update(const TensorDict& value) { put_below({}, value); }

void RedisStore::put_below(const std::string& below, const TensorDict& value) {
  const std::vector<NewEntry> entries = entries_of(below, value);
  const std::lock_guard<std::mutex> turn(mutex_);
  require_unlocked();
  if (!begins_with(value.batch_size(), guess_.batch)) {
    fail(Code::shape, "a dictionary of batch size ", show_sizes(value.batch_size()),
         " does not fit the batch size of the store, ", show_sizes(guess_.batch));
  }
  require_kept(entries);
  for (const NewEntry& entry : entries) require_room(entry.path);
  put(entries);
}

void RedisStore::set_at(Path path, c10::ArrayRef<IndexItem> items, const at::Tensor& value) {
  until_done(path, "written", [&](const auto& name, const auto& entry, const Meta& meta) {
    const Sizes part = IndexPlan(items, meta.sizes).sizes(meta.sizes);
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
    transaction.commands().add({"DEL", keys_.data(one), keys_.meta(one)});
    transaction.commands().add({"SREM", keys_.paths(), one});
  }
  transaction.run(connection_);
  for (const std::string& one : gone) guess_.entries.erase(one);
}

}  // namespace td::store
