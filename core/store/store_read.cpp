// Reads entries of a store into local copies.
#include "core/store/redis_store.h"

#include "core/formats/json_text.h"
#include "core/keys/entries.h"
#include "core/tree/lazy_node.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::store {

namespace {

// One value for each element of the first batch dimension, repeated along the other dimensions.
NodePtr node_of_values(const Plain& list, SizesView batch, const std::string& where) {
  if (!list.is(Plain::list)) fail(Code::format, where, ": this is no list");
  const td::Span<Plain> values = list.items();
  const auto found = static_cast<std::int64_t>(values.size());
  if (batch.empty() || found != batch[0]) {
    fail(Code::format, where, ": ", found, " values for a batch size of ", show_sizes(batch));
  }
  if (values.empty()) return non_tensor_of_lists(list, batch.slice(0, 1), std::nullopt);
  std::vector<NodePtr> nodes;
  nodes.reserve(values.size());
  for (const Plain& value : values)
    nodes.push_back(c10::make_intrusive<NonTensorNode>(value, batch.slice(1), std::nullopt));
  return lazy_stack(std::move(nodes), 0);
}

// Whether a value is a list for each element of the batch. Python reads such a list as one value for each, and
// writes those of several batch dimensions so.
bool fits(const Plain& value, SizesView batch) {
  if (batch.empty()) return true;
  if (!value.is(Plain::list) || value.items().empty()) return false;
  const td::Span<Plain> items = value.items();
  return static_cast<std::int64_t>(items.size()) == batch[0] &&
         std::all_of(items.begin(), items.end(),
                     [&](const Plain& item) { return fits(item, batch.slice(1)); });
}

}  // namespace

Sizes RedisStore::batch_size() const {
  const std::lock_guard<std::mutex> turn(mutex_);
  return guess_.form.batch;
}

KeyList RedisStore::keys() {
  const std::lock_guard<std::mutex> turn(mutex_);
  KeyList list;
  for (const Leaf& leaf : fetch(connection_, keys_, guess_, {}, Wanted::metadata).leaves) {
    list.keys.push_back(
        {split(leaf.path), leaf.meta.is_tensor ? EntryKind::tensor : EntryKind::non_tensor});
  }
  return list;
}

void RedisStore::fail_missing(const std::string& path) {
  const std::string& where = connection_.where();
  const Fetched all = fetch(connection_, keys_, guess_, {}, Wanted::metadata);
  std::string names;
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < all.leaves.size(); ++i) {
    if (lies_below(all.leaves[i].path, path)) {
      fail(Code::wrong_entry, shown_entry(where, path), " is a dictionary");
    }
    if (i < most) names += (i == 0 ? "" : ", ") + quote(all.leaves[i].path);
    if (i == most) names += ", ...";
  }
  fail(Code::key_not_found, shown_entry(where, path),
       " is no entry; there are: ", names.empty() ? "none" : names);
}

// Reads one entry, as the only leaf.
Fetched RedisStore::read_one(Path path, Kind kind) {
  const std::string name = joined(path);
  const std::lock_guard<std::mutex> turn(mutex_);
  Transaction transaction;
  ask_meta(transaction.commands(), keys_, name, guess_.form);
  transaction.commands().add({"GET", keys_.data(name)});
  Fetched result;
  result.held = transaction.run(connection_);
  const std::string entry = shown_entry(connection_.where(), name);
  if (result.held[1].is_nil() && !has_meta(result.held[0].list("the metadata of an entry"))) {
    fail_missing(name);
  }
  const Meta meta = read_meta(result.held[0], guess_.form, entry);
  const std::string_view bytes = value_bytes(result.held[1], meta, entry);
  guess_.entries[name] = meta;
  if (meta.is_tensor != (kind == Kind::tensor)) {
    fail(Code::wrong_entry, entry, meta.is_tensor ? " is a tensor" : " is no tensor");
  }
  result.leaves.push_back({name, meta, bytes, {}});
  return result;
}

at::Tensor RedisStore::get(Path path) {
  const Fetched read = read_one(path, Kind::tensor);
  const Leaf& leaf = read.leaves[0];
  return whole_of(leaf.bytes, leaf.meta, shown_entry(connection_.where(), leaf.path));
}

std::string RedisStore::get_non_tensor(Path path) {
  const Fetched read = read_one(path, Kind::value);
  const Leaf& leaf = read.leaves[0];
  return json_text(plain_of(leaf.bytes, leaf.meta, shown_entry(connection_.where(), leaf.path)));
}

TensorDict RedisStore::local(const std::vector<Leaf>& leaves, std::string_view below) const {
  const Form& form = guess_.form;
  const bool stack = form.stack_dim && form.count() != 0;
  return stack ? local_stack(leaves, below) : local_copy(leaves, below, form.batch, nullptr);
}

// A lazy stack of leaves that were read whole.
TensorDict RedisStore::local_stack(const std::vector<Leaf>& leaves, std::string_view below) const {
  const Form& form = guess_.form;
  const std::string& where = connection_.where();
  std::vector<std::vector<FlatLeaf>> elements(static_cast<std::size_t>(form.count()));
  for (const Leaf& leaf : leaves) {
    const std::string entry = shown_entry(where, leaf.path);
    if (!leaf.meta.is_tensor) fail(Code::unsupported, entry, ": a lazy stack keeps only tensors");
    const std::string name = leaf.path.substr(below.empty() ? 0 : below.size() + 1);
    std::vector<at::Tensor> tensors = elements_of(leaf.bytes, leaf.meta, form, entry);
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i].push_back({name, split(name), std::move(tensors[i])});
  }
  FlatExtras extras;
  const Sizes inner = form.inner();
  extras.dicts.push_back({{}, Shape(inner.begin(), inner.end()), {}});
  std::vector<NodePtr> nodes;
  for (const std::vector<FlatLeaf>& element : elements)
    nodes.push_back(build_tree(element, &extras, FileOptions(), where).node());
  return TensorDict(lazy_stack(std::move(nodes), *form.stack_dim));
}

// A dictionary of leaves that were read by rows, or whole. With `rows`, values that are no tensors are left
// out: they were read whole.
TensorDict RedisStore::local_copy(const std::vector<Leaf>& leaves, std::string_view below,
                                  SizesView batch, const PickedRows* rows) const {
  const std::string& where = connection_.where();
  std::vector<FlatLeaf> tensors;
  FlatExtras extras;
  Sizes size(batch.begin(), batch.end());
  if (rows != nullptr && !rows->all) size[0] = rows->count;
  extras.dicts.push_back({{}, Shape(size.begin(), size.end()), {}});
  const std::size_t skipped = below.empty() ? 0 : below.size() + 1;
  std::vector<std::pair<OwnedPath, NodePtr>> stacks;
  for (const Leaf& leaf : leaves) {
    const std::string name = leaf.path.substr(skipped);
    const std::string entry = shown_entry(where, leaf.path);
    OwnedPath path = split(name);
    if (leaf.meta.is_tensor) {
      at::Tensor tensor = leaf.rows.defined()
                              ? leaf.rows
                              : tensor_of(leaf.bytes, leaf.meta, leaf.meta.sizes, entry);
      tensors.push_back({name, std::move(path), std::move(tensor)});
      continue;
    }
    if (rows != nullptr && !batch.empty()) continue;
    Plain value = plain_of(leaf.bytes, leaf.meta, entry);
    if (leaf.meta.encoding == "json_array" && !batch.empty()) {
      stacks.emplace_back(std::move(path), node_of_values(value, batch, entry));
    } else {
      const bool each = leaf.meta.encoding == "json" && !batch.empty() && fits(value, batch);
      extras.data.push_back({std::move(path), std::move(value), each});
    }
  }
  TensorDict result = build_tree(tensors, &extras, FileOptions(), where);
  if (stacks.empty()) return result;
  Changes changes;
  std::vector<std::vector<std::string_view>> views;
  views.reserve(stacks.size());
  for (const auto& stack : stacks) {
    views.push_back(path_view(stack.first));
    if (result.kind_of(views.back()) != EntryKind::none) {
      fail(Code::key_exists, where, ": ", show_path(views.back()),
           " is both an entry and a dictionary");
    }
    plan_set(changes, result.node(), views.back(), stack.second);
  }
  changes.run();
  return result;
}

TensorDict RedisStore::load() {
  const std::lock_guard<std::mutex> turn(mutex_);
  const Fetched all = fetch(connection_, keys_, guess_, {}, Wanted::values);
  return local(all.leaves, {});
}

TensorDict RedisStore::get_dict(Path path) {
  const std::string below = joined(path);
  const std::lock_guard<std::mutex> turn(mutex_);
  const Fetched all = fetch(connection_, keys_, guess_, below, Wanted::values);
  if (all.leaves.empty()) {
    const bool entry = guess_.entries.count(below) != 0;
    fail(entry ? Code::wrong_entry : Code::key_not_found, shown_entry(connection_.where(), below),
         entry ? " is no dictionary" : " is no entry");
  }
  return local(all.leaves, below);
}

TensorDict RedisStore::index(c10::ArrayRef<IndexItem> items) {
  const std::lock_guard<std::mutex> turn(mutex_);
  const Form& form = guess_.form;
  // One element of a lazy stack is read alone, several are picked from all.
  const bool one = !items.empty() && items[0].kind == IndexKind::integer;
  if (form.stack_dim && !(form.stack_dim == 0 && one)) {
    const Fetched all = fetch(connection_, keys_, guess_, {}, Wanted::values);
    return local(all.leaves, {}).index(items);
  }
  const Fetched all = fetch(connection_, keys_, guess_, {}, Wanted::rows, items);
  const RowIndex index = split_rows(items, form.batch);
  TensorDict result = local_copy(all.leaves, {}, form.batch, &index.rows);
  if (!index.rest.empty()) result = result.index(index.rest);
  // Values that are no tensors were read whole: pick their rows here.
  std::vector<Leaf> values;
  for (const Leaf& leaf : all.leaves) {
    if (!leaf.meta.is_tensor && !form.batch.empty()) values.push_back(leaf);
  }
  if (!values.empty()) td::update(result, local_copy(values, {}, form.batch, nullptr).index(items));
  return result;
}

// An entry's metadata: from the guess, or from the server.
Meta RedisStore::tensor_meta(const std::string& path) {
  const auto known = guess_.entries.find(path);
  if (known == guess_.entries.end() || !known->second) refresh_meta(path);
  const Meta& meta = *guess_.entries.at(path);
  if (meta.is_tensor) return meta;
  fail(Code::wrong_entry, shown_entry(connection_.where(), path), " is no tensor");
}

void RedisStore::refresh_meta(const std::string& path) {
  Request request;
  ask_meta(request, keys_, path, guess_.form);
  const std::vector<Reply> replies = connection_.run(request);
  const Answer answer(replies[0], connection_.where());
  if (!has_meta(answer.list("the metadata of an entry"))) {
    guess_.entries.erase(path);
    fail_missing(path);
  }
  guess_.entries[path] = read_meta(answer, guess_.form, shown_entry(connection_.where(), path));
}

void RedisStore::until_done(Path path, const char* doing, const Attempt& attempt) {
  const std::string name = joined(path);
  const std::lock_guard<std::mutex> turn(mutex_);
  const std::string entry = shown_entry(connection_.where(), name);
  for (int i = 0; i < max_attempts; ++i) {
    if (attempt(name, entry, tensor_meta(name))) return;
  }
  fail(Code::busy, entry, ": others kept replacing it while it was ", doing);
}

at::Tensor RedisStore::get_at(Path path, c10::ArrayRef<IndexItem> items) {
  at::Tensor result;
  until_done(path, "read", [&](const auto& name, const auto& entry, const Meta& meta) {
    Sizes sizes = meta.sizes;
    if (!meta.shapes.empty()) {
      const Meta one = meta.element(element_picked(items, meta, entry));
      sizes.assign(one.sizes.begin(), one.sizes.end());
      sizes.insert(sizes.begin(), static_cast<std::int64_t>(meta.shapes.size()));
    }
    // An entry in another order is read whole.
    const bool whole = meta.front != 0;
    const RowIndex index =
        whole ? RowIndex{{}, {items.begin(), items.end()}} : split_rows(items, sizes);
    const RowsToRead read = rows_to_read(meta, index.rows, entry);
    Transaction transaction;
    ask_meta(transaction.commands(), keys_, name, guess_.form);
    ask_rows(transaction.commands(), keys_.data(name), read);
    const Transaction::Answers answers = transaction.run(connection_);
    if (!has_meta(answers[0].list("the metadata of an entry"))) {
      guess_.entries.erase(name);
      fail_missing(name);
    }
    const Meta found = read_meta(answers[0], guess_.form, entry);
    guess_.entries[name] = found;
    if (found != meta) return false;
    result = rows_of(answers[1], answers[2], meta, index.rows, read, entry);
    if (whole) result = result.movedim(0, meta.front).contiguous();
    if (!index.rest.empty()) result = IndexPlan(index.rest, result.sizes()).read(result, false);
    return true;
  });
  return result;
}

}  // namespace td::store
